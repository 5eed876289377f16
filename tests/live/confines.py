#!/usr/bin/env python3
"""A program that begins to filter its system calls (seccomp) in the middle of a trace which it
fills faster than anybody reads it: it is not killed for a call of the trace's."""

import subprocess
import sys

sys.dont_write_bytecode = True

import rsp_client  # noqa: E402
from serve_common import TRACEWELL, Server, check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402


def main():
    program = subprocess.Popen([INFERIORS / "confines"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    address = int(program.stdout.readline(), 16)
    server = Server([*TRACEWELL, "--attach", "localhost:0", str(program.pid)])
    client = rsp_client.Client(int(server.wait_for(r"Listening on port (\d+)").group(1)))
    client.ask("?", None)
    client.ask("QTinit")
    client.ask("QTBuffer:circular:1")
    client.ask(f"QTDP:1:{address:016x}:E:0:0-")
    client.ask(f"QTDP:-1:{address:016x}:R0fffM7,0,fff")  # 4 KiB from the stack pointer on
    client.ask("QTStart")
    client.send("vCont;c")
    program.stdin.write("x")
    program.stdin.close()
    same(client.receive(), "W07", f"the program's own end: {server.said()}")
    check(client.frames_created() > 0, "no hit")
    client.vanish()
    server.stop()
    program.wait()
    program.stdout.close()


main()
