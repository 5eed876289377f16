#!/usr/bin/env python3
"""Signals that no handler takes come to a program while it is traced: it goes on, and each of its
calls is one hit. A thread that such a signal found at a tracepoint was led through it again, until
the next signal came."""
# timeout: 120

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from trace_common import INFERIORS, check, folder, gdb, need, same, serve  # noqa: E402

PROGRAM = INFERIORS / "ignores"
CALLS = 200_000

SCRIPT = """
run("target remote %(remote)s")
run("set trace-buffer-size 60000000")
run("source %(definitions)s")
run("tstart")
run("break _exit")
run("continue")
run("tstop")
result({"status": run("tstatus"), "end": run("continue"), "code": run("output $_exitcode")})
"""


def main():
    need("gdb")
    with folder() as work:
        definitions = work / "definitions"
        definitions.write_text("trace hit\nactions\ncollect hits\nend\n")
        with serve("--once", PROGRAM) as remote:
            got = gdb(work, SCRIPT % {"remote": remote, "definitions": definitions}, PROGRAM)
    check(f"Collected {CALLS} trace frames" in got["status"], got["status"])
    same(got["code"], "33", got["end"])


main()
