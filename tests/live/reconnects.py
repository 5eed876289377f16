#!/usr/bin/env python3
"""Stock GDB comes back to a run that another one began. It makes tracepoints of what the server
sends, under numbers of its own: they are the same ones, so that hits are found by them, and nothing
is defined a second time."""
# timeout: 120

import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import serving  # noqa: E402
from trace_common import INFERIORS, check, folder, gdb, need, same  # noqa: E402

PROGRAM = INFERIORS / "turns"
NAMES = ["first_work", "second_work", "main_work"]

BEGIN = """
run("target remote localhost:%(port)d")
said = [run("ftrace " + name) for name in %(names)r]
run("set disconnected-tracing on")
said.append(run("tstart"))
run("disconnect")
result(said)
"""

AGAIN = """
run("target remote localhost:%(port)d")
run("tstop")
status = run("tstatus")
result({"status": status, "points": run("info tracepoints"), "end": run("detach")})
"""


def hits(text):
    """[(number, function, hits)]."""
    return [(int(number), name, int(count)) for number, name, count in re.findall(
        r"^(\d+) .* in (\w+) at .*\n\s+tracepoint already hit (\d+) times", text, re.MULTILINE)]


def main():
    need("gdb")
    program = subprocess.Popen([PROGRAM])
    try:
        with folder() as work, serving("--attach", "localhost:0", str(program.pid)) as (_, port, _):
            gdb(work, BEGIN % {"port": port, "names": NAMES}, PROGRAM)
            again = gdb(work, AGAIN % {"port": port}, PROGRAM)
        found = hits(again["points"])
        same([one[:2] for one in found], list(enumerate(NAMES, 1)), f"in {again}")
        created = int(re.search(r"Collected (\d+) trace frames", again["status"])[1])
        same(sum(count for _, _, count in found), created, "hits, and frames")
        check("rror" not in again["end"], again["end"])
        check(os.path.exists(f"/proc/{program.pid}"), "the program is gone")
    finally:
        program.kill()
        program.wait()


main()
