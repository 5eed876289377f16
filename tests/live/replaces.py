#!/usr/bin/env python3
# waits
"""A program that another one replaces (exec): the trace ends there, and what runs then is not
touched. A debugger is told of it whether it asked or not."""

import subprocess
import sys

sys.dont_write_bytecode = True

from rsp_client import Client  # noqa: E402
from serve_common import TRACEWELL, check, same, server  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

ROUNDS = 100
TEXT = "the program replaced itself by exec".encode().hex()


def replaced(fast, disconnected):
    with subprocess.Popen([INFERIORS / "replaces"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        try:
            place = int(program.stdout.readline(), 16)
            with server("--fast-tracepoints", fast, "--attach", "localhost:0", str(program.pid),
                        program=TRACEWELL) as running:
                port = int(running.wait_for(r"Listening on port (\d+)").group(1))
                client = Client(port)
                client.trace([place], disconnected)
                client.send("vCont;c")
                if disconnected:
                    client.socket.close()
                program.stdin.write("x")
                program.stdin.flush()
                if disconnected:
                    same(program.wait(timeout=60), 0, f"{fast}: the other program's code")
                    client = Client(port)
                else:
                    told = client.receive()
                    check(told.startswith("T05reason:exec;"), f"{fast}: told {told}")
                    same(client.say("vCont;c"), "W00", f"{fast}: the other program's code")
                status = client.ask("qTStatus", None)
                check(f"terror:{TEXT}:0" in status, f"{fast}: {status}")
                same(client.frames_created(), ROUNDS, f"{fast}: hits of the first program")
        finally:
            program.kill()


def main():
    for fast in ("all", "none"):
        for disconnected in (False, True):
            replaced(fast, disconnected)


main()
