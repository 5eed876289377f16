#!/usr/bin/env python3
# skips
"""Signals that a program sends itself with a value while a thread is in hits of fast tracepoints
come as they were sent, also where the thread is led out of the code of the trace."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import attached, fast, program  # noqa: E402
from rsp_client import bias, symbols  # noqa: E402
from serve_common import check  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "queued_signals"
STOPS = 400


def main():
    need_fast_tracepoints()
    with program(PROGRAM) as running, attached(running.pid, *fast("all")) as (client, _):
        client.ask("QPassSignals:b")  # SIGSEGV
        client.trace([bias(running.pid, PROGRAM) + symbols(PROGRAM)["hit"]])
        for _ in range(STOPS):
            client.send("vCont;c")
            client.socket.sendall(b"\3")
            check(client.receive().startswith("T"), "it stops")
        client.ask("QTStop")
        client.ask("D")


main()
