#!/usr/bin/env python3
# skips
"""Non-stop: a traced program dies as its trace ends, while it stands still: what was left of the
trace in it goes without harm to the server's other programs."""

import os
import pathlib
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, status, wait_until  # noqa: E402
from serve_common import INFERIORS, check, server  # noqa: E402
from trace_common import need_fast_tracepoints  # noqa: E402


class Program:
    """One that calls a function each millisecond."""

    def __init__(self):
        self.process = subprocess.Popen([INFERIORS / "much_code", "empty", "1"],
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.place = int(self.process.stdout.readline(), 16)

    def sleeps(self):
        return int(status(self.pid, "voluntary_ctxt_switches"))

    def goes_on(self):
        before = self.sleeps()
        wait_until(lambda: self.sleeps() > before + 2, "it goes on")


class Debugger(Client):
    """Of several programs."""

    def attach(self, program):
        self.ask(f"vAttach;{program.pid:x}")
        self.ask(f"Hgp{program.pid:x}.{program.pid:x}")

    def hear_all(self):
        while self.say("vStopped") != "OK":
            pass

    def stop(self, program):
        self.ask(f"vCont;t:p{program.pid:x}.-1")
        # It may stand before the server knows; and what was not heard is told before it goes on.
        while not re.search(rb"%%Stop:[^#]*thread:p%x\." % program.pid, self.bytes):
            more = self.socket.recv(65536)
            check(more, "the server closed the connection")
            self.bytes += more
        self.hear_all()


def dies(when, dying, other):
    """`when`: before or after the end of its trace."""
    with server("--fast-tracepoints", "all", "--multi", "localhost:0") as running:
        port = running.wait_for(r"Listening on port (\d+)").group(1)
        client = Debugger(port)
        client.say("qSupported:multiprocess+;vContSupported+")
        for packet in ("!", "QNonStop:1"):
            client.ask(packet)
        for program in (other, dying):
            client.attach(program)
            client.stop(program)
        for packet in ("QTinit", f"QTDP:1:{dying.place:x}:E:0:0-",
                       f"QTDP:-1:{dying.place:x}:R0fff"):
            client.ask(packet)
        client.console("QTStart")  # the trace is of one of two programs
        client.ask(f"vCont;c:p{dying.pid:x}.-1")
        dying.goes_on()
        client.stop(dying)
        if when == "after":
            client.ask("QTStop")
        before = dying.sleeps()
        os.kill(dying.pid, signal.SIGKILL)
        # It stands once more on its way out, and nobody has been told.
        wait_until(lambda: dying.sleeps() > before, "its end")
        if when == "before":
            client.ask("QTStop")
        client.ask(f"vCont;c:p{other.pid:x}.-1")
        other.goes_on()
        client.hear_all()
        client.ask(f"Hgp{other.pid:x}.{other.pid:x}")
        client.ask(f"D;{other.pid:x}")


def main():
    need_fast_tracepoints()
    for when in ("after", "before"):
        dying, other = Program(), Program()
        try:
            dies(when, dying, other)
            other.goes_on()
        finally:
            for program in (dying, other):
                program.process.kill()
                program.process.wait()


main()
