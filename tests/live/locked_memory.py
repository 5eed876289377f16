#!/usr/bin/env python3
# skips
"""A program's memory to come is locked, though none of it is yet: it is not given the memory that
fast tracepoints share with it, all of which the kernel would fill at once."""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, status, symbols, wait_until  # noqa: E402
from serve_common import check, same, server  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

PROGRAM = INFERIORS / "locks_future"
MORE_KB = 16 << 10


def traced(program):
    with server("--fast-tracepoints", "all", "--attach", "localhost:0",
                str(program.pid)) as running:
        client = Client(int(running.wait_for(r"Listening on port (\d+)").group(1)))
        same(status(program.pid, "VmLck"), "0", "what is locked before")
        before = int(status(program.pid, "VmRSS"))
        client.trace([bias(program.pid, PROGRAM) + symbols(PROGRAM)["hit"]])
        check(int(status(program.pid, "VmRSS")) < before + MORE_KB, "it has its memory alone")
        client.send("vCont;c")
        wait_until(lambda: client.stands_after(20), "hits")
        client.ask("QTStop")
        client.ask("D")


def main():
    with subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        try:
            if program.stdout.readline() != "ready\n":
                same(program.wait(timeout=60), 77, "memory cannot be locked")
                print("skipped: programs may not lock memory here")
                return
            traced(program)
            program.stdin.close()
            same(program.wait(timeout=60), 0, "the program's own end")
        finally:
            program.kill()


main()
