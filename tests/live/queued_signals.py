#!/usr/bin/env python3
# skips
"""Signals that a program sends itself with a value while a thread is in hits of fast tracepoints
come as they were sent, also where the thread is led out of the code of the trace."""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, symbols  # noqa: E402
from serve_common import check, same, server  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "queued_signals"
STOPS = 400


def main():
    need_fast_tracepoints()
    with subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        try:
            same(program.stdout.readline(), "ready\n", "it is there")
            with server("--fast-tracepoints", "all", "--attach", "localhost:0",
                        str(program.pid)) as running:
                client = Client(int(running.wait_for(r"Listening on port (\d+)").group(1)))
                client.ask("QPassSignals:b")  # SIGSEGV
                client.trace([bias(program.pid, PROGRAM) + symbols(PROGRAM)["hit"]])
                for _ in range(STOPS):
                    client.send("vCont;c")
                    client.socket.sendall(b"\3")
                    check(client.receive().startswith("T"), "it stops")
                client.ask("QTStop")
                client.ask("D")
            program.stdin.close()
            same(program.wait(timeout=60), 0, "the program's own end")
        finally:
            program.kill()


main()
