#!/usr/bin/env python3
"""A program whose filter of system calls (seccomp) forbids restart_syscall(2), which the kernel
makes for a call with a timeout that a stop interrupts: it goes on, stopped and let go as often
as anybody likes."""

import os
import subprocess
import sys

sys.dont_write_bytecode = True

import serve_client  # noqa: E402
from rsp_client import status, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402


def main():
    if os.getuid() != 0:
        print("skipped: it takes root, who may read filters")
        sys.exit()
    with subprocess.Popen([INFERIORS / "sleeps_sandboxed"], stdout=subprocess.PIPE,
                          text=True) as program:
        same(program.stdout.readline(), "ready\n", "the program")
        for _ in range(2):
            wait_until(lambda: status(program.pid, "State").startswith("S"), "it sleeps")
            server = Server([*TRACEWELL, "--once", "--attach", "localhost:0", str(program.pid)])
            port = server.wait_for(r"Listening on port (\d+)").group(1)
            client = serve_client.Client(f"localhost:{port}")
            check(client.say("?").startswith("T"), "it has stopped")
            client.send("c")
            wait_until(lambda: status(program.pid, "State").startswith("S"), "it goes on")
            client.socket.sendall(b"\3")
            check(client.receive().startswith("T"), "it stops")
            same(client.say("D"), "OK", "let go")
            client.vanish()
            server.ended()
        same(program.wait(timeout=60), 7, "the program's own end")


main()
