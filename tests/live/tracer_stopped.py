#!/usr/bin/env python3
"""Somebody has stopped the process that traces (SIGSTOP): a server that is told to end goes on with
it, for the traced program and whoever waits for its end would wait as long."""

import os
import pathlib
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, serving, status, wait_until  # noqa: E402
from trace_common import INFERIORS, same  # noqa: E402

PROGRAM = INFERIORS / "loses_page"
END_SECONDS = 30


def ends(number):
    program = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        program.stdout.readline()
        with serving("--attach", "localhost:0", str(program.pid)) as (server, port, _):
            client = Client(port)
            client.say("?")
            client.send("vCont;c")
            tracer = int(status(program.pid, "TracerPid"))
            os.kill(tracer, signal.SIGSTOP)
            wait_until(lambda: status(tracer, "State").startswith("T"), "the tracer stands")
            server.send_signal(number)
            server.wait(timeout=END_SECONDS)
            wait_until(lambda: status(program.pid, "TracerPid") == "0", "nobody traces it")
        program.stdin.write("x")
        program.stdin.flush()
        same(program.stdout.readline(), "it goes on: 0 faults, as it was\n", "the program")
    finally:
        program.kill()
        program.wait()


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        ends(number)


main()
