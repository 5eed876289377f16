#!/usr/bin/env python3
# skips
"""A program whose system calls are dispatched to itself (Syscall User Dispatch, as Wine has it) is
traced, stopped and detached from, and does not notice: calls of ours are none of its own."""
# timeout: 120

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, status, symbols, wait_until  # noqa: E402
from serve_common import check, same, server  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

PROGRAM = INFERIORS / "dispatched"


def traced(fast, *words):
    """False: the kernel cannot do it."""
    program = subprocess.Popen([PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        if program.stdout.readline() != b"ready\n":
            same(program.wait(timeout=60), 77, "a kernel without it")
            return False
        with server("--fast-tracepoints", fast, "--attach", "localhost:0",
                    str(program.pid)) as running:
            client = Client(int(running.wait_for(r"Listening on port (\d+)").group(1)))
            client.ask("QPassSignals:0c")  # SIGSYS
            client.trace([bias(program.pid, PROGRAM) + symbols(PROGRAM)["tick"]])
            client.send("vCont;c")
            wait_until(lambda: client.stands_after(20), "hits")
            maps = pathlib.Path(f"/proc/{program.pid}/maps").read_text()
            check("memfd:tracewell" not in maps, "code of ours in it may make calls")
            client.ask("QTStop")
            client.ask("D")
        same(status(program.pid, "TracerPid"), "0", "detached")
        program.stdin.close()
        same(program.wait(timeout=60), 0, f"the program's own end: {running.said()}")
    finally:
        program.kill()
    return True


def main():
    for fast in ("none", "all"):
        if not traced(fast):
            print("skipped: no Syscall User Dispatch here")
            return
        # The kernel tells such a range turned inside out, and does not take it back like that.
        if not traced(fast, "inclusive"):
            print("no ranges of dispatched calls here (before Linux 6.17)")


main()
