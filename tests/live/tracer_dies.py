#!/usr/bin/env python3
# skips
"""The process that traces is killed while fast tracepoints are in a program: it runs on, though
what they read is not there any more, and no hit waits for anybody. Where the program handles faults
itself, none is led to its handlers, and those are what they were."""

import os
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, status, symbols, wait_until  # noqa: E402
from trace_common import INFERIORS, check, need_fast_tracepoints, same  # noqa: E402

PROGRAM = INFERIORS / "loses_page"
LINE_SECONDS = 30


def reads(page):
    """A condition that holds as long as the page does: const64 PAGE, ref8, end."""
    return f"X0000000B,25{page:016x}1727"


def killed(what, condition, action, *conduct):
    program = subprocess.Popen([PROGRAM, *conduct], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    try:
        page = int(program.stdout.readline(), 16)
        with serving("--attach", "localhost:0", str(program.pid)) as (server, port, _):
            client = Client(port)
            place = bias(program.pid, PROGRAM) + symbols(PROGRAM)["look"]
            client.ask("QTinit")
            client.ask("QTBuffer:circular:1")
            client.ask(f"QTDP:1:{place:x}:E:0:0:F5{condition(page)}-")
            client.ask(f"QTDP:-1:{place:x}:{action(page)}")
            client.ask("QTStart")
            client.send("vCont;c")
            time.sleep(0.3)
            tracer = int(status(program.pid, "TracerPid"))
            for pid in (server.pid, tracer):
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: status(program.pid, "TracerPid") == "0", "nobody traces it")
            begin = time.monotonic()
            program.stdin.write("x")
            program.stdin.flush()
            same(program.stdout.readline(), "it goes on: 0 faults, as it was\n",
                 f"{what}: the program {conduct}")
            check(time.monotonic() - begin < LINE_SECONDS, f"{what}: no hit waits")
            server.wait()
    finally:
        program.kill()
        program.wait()


def main():
    need_fast_tracepoints()

    def nothing(_):
        return ""

    def memory(page):
        return f"M-1,{page:x},8"

    for conduct in ((), ("handles",), ("handles", "blocked")):
        killed("memory", nothing, memory, *conduct)
        killed("an expression", nothing, lambda page: f"X0000000B,25{page:016x}1a27", *conduct)
        killed("a condition", lambda page: ":" + reads(page), lambda _: "R0fff", *conduct)


main()
