#!/usr/bin/env python3
# skips
"""A program's memory to come is locked, though none of it is yet: it is not given the memory that
fast tracepoints share with it, all of which the kernel would fill at once."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import attached, fast, program  # noqa: E402
from rsp_client import bias, status, symbols, wait_until  # noqa: E402
from serve_common import check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

PROGRAM = INFERIORS / "locks_future"
MORE_KB = 16 << 10


def traced(pid):
    with attached(pid, *fast("all")) as (client, _):
        same(status(pid, "VmLck"), "0", "what is locked before")
        before = int(status(pid, "VmRSS"))
        client.trace([bias(pid, PROGRAM) + symbols(PROGRAM)["hit"]])
        check(int(status(pid, "VmRSS")) < before + MORE_KB, "it has its memory alone")
        client.send("vCont;c")
        wait_until(lambda: client.stands_after(20), "hits")
        client.ask("QTStop")
        client.ask("D")


def main():
    with program(PROGRAM, unable=77) as running:
        if not running:
            print("skipped: programs may not lock memory here")
            return
        traced(running.pid)


main()
