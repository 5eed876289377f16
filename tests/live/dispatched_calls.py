#!/usr/bin/env python3
# skips
"""A program whose system calls are dispatched to itself (Syscall User Dispatch, as Wine has it) is
traced, stopped and detached from, and does not notice: calls of ours are none of its own."""
# timeout: 120

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import attached, fast, program  # noqa: E402
from rsp_client import bias, status, symbols, wait_until  # noqa: E402
from serve_common import check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

PROGRAM = INFERIORS / "dispatched"


def traced(which, *words):
    """False: the kernel cannot do it."""
    with program(PROGRAM, *words, unable=77) as running:
        if not running:
            return False
        with attached(running.pid, *fast(which)) as (client, _):
            client.ask("QPassSignals:0c")  # SIGSYS
            client.trace([bias(running.pid, PROGRAM) + symbols(PROGRAM)["tick"]])
            client.send("vCont;c")
            wait_until(lambda: client.stands_after(20), "hits")
            maps = pathlib.Path(f"/proc/{running.pid}/maps").read_text()
            check("memfd:tracewell" not in maps, "code of ours in it may make calls")
            client.ask("QTStop")
            client.ask("D")
        same(status(running.pid, "TracerPid"), "0", "detached")
    return True


def main():
    for which in ("none", "all"):
        if not traced(which):
            print("skipped: no Syscall User Dispatch here")
            return
        # The kernel tells such a range turned inside out, and does not take it back like that.
        if not traced(which, "inclusive"):
            print("no ranges of dispatched calls here (before Linux 6.17)")


main()
