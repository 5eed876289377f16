#!/usr/bin/env python3
# skips
# timeout: 300
"""A program that writes over its rings, of which all are full at all times then: it can be stopped
still, its threads can end, and so can the server."""

import pathlib
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, status, symbols  # noqa: E402
from serve_common import TRACEWELL, check, same, server  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "lying_rings"


class Lying:
    """The program under a server, and a debugger that has let it go on. It lies already."""

    def __init__(self, threads):
        self.program = subprocess.Popen([PROGRAM, str(threads)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.server = server("--once", "--attach", "localhost:0", str(self.program.pid),
                             program=TRACEWELL)

    def __enter__(self):
        self.running = self.server.__enter__()
        port = int(self.running.wait_for(r"Listening on port (\d+)").group(1))
        self.client = Client(port)
        self.client.trace([bias(self.program.pid, PROGRAM) + symbols(PROGRAM)["tick"]])
        self.client.send("vCont;c")
        same(self.program.stdout.readline(), "begun\n", "it begins to lie")
        return self

    def __exit__(self, *error):
        try:
            self.server.__exit__(*error)
        finally:
            self.program.kill()
            self.program.wait()

    def stops(self):
        self.client.socket.sendall(b"\x03")
        reply = self.client.receive()  # within a minute
        check(reply.startswith("T02"), reply)

    def server_ends(self):
        self.running.process.send_signal(signal.SIGTERM)
        same(self.running.process.wait(timeout=20), 128 + signal.SIGTERM, "the server's status")
        same(status(self.program.pid, "TracerPid"), "0", "the program is let go")


def main():
    need_fast_tracepoints()
    with Lying(0) as it:
        it.stops()
        check(it.client.frames_created() > 0, "what it says is taken")
        it.client.send("vCont;c")
        it.stops()
    with Lying(0) as it:
        it.server_ends()
    with Lying(40) as it:
        it.program.stdin.write("x")
        it.program.stdin.flush()
        same(it.program.stdout.readline(), "ended\n", "its threads have ended")
        it.stops()
        it.client.send("vCont;c")
        it.server_ends()


main()
