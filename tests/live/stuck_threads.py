#!/usr/bin/env python3
"""A thread of the program cannot be stopped any more (state D) after the server has attached: stops
are told without it, it is taken in again when it comes back, and the server can be ended. Nothing
of ours is left in the program."""
# timeout: 120

import contextlib
import os
import pathlib
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, status, symbols, wait_until  # noqa: E402
from serve_common import TRACEWELL, check, same, server  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

PROGRAM = INFERIORS / "stuck"


class Stuck:
    """The program under a server, and a debugger that has let it run into where it is stuck."""

    def __init__(self, running, program, traced):
        self.running, self.program = running, program
        self.client = Client(int(running.wait_for(r"Listening on port (\d+)").group(1)))
        self.client.say("qSupported:multiprocess+;vContSupported+;swbreak+")
        self.thread = next(int(tid) for tid in os.listdir(f"/proc/{program.pid}/task")
                           if int(tid) != program.pid)
        self.client.ask("QPassSignals:14")  # SIGCHLD
        if traced:
            self.client.trace([bias(program.pid, PROGRAM) + symbols(PROGRAM)["tick"]])
        self.client.send("vCont;c")
        program.stdin.write(b"x")
        program.stdin.flush()
        wait_until(lambda: status(self.thread, "State").startswith("D"), "it is stuck")

    def stops(self):
        self.client.socket.sendall(b"\x03")
        reply = self.client.receive()
        check(reply.startswith("T02"), reply)
        check(f"thread:p{self.program.pid:x}.{self.program.pid:x};" in reply, reply)

    def registers(self):
        self.client.ask(f"Hgp{self.program.pid:x}.{self.thread:x}")
        return self.client.say("g")

    def comes_back(self):
        children = f"/proc/{self.program.pid}/task/{self.thread}/children"
        os.kill(int(pathlib.Path(children).read_text().split()[0]), signal.SIGKILL)

    def ends(self):
        same(self.program.wait(timeout=60), 7, f"the program's own end: {self.running.said()}")


@contextlib.contextmanager
def stuck(how, *options, traced=False):
    with subprocess.Popen([PROGRAM, how], stdin=subprocess.PIPE) as program:
        wait_until(lambda: len(os.listdir(f"/proc/{program.pid}/task")) == 2, "its thread")
        try:
            with server(*options, "--attach", "localhost:0", str(program.pid),
                        program=TRACEWELL) as running:
                yield Stuck(running, program, traced)
        finally:
            program.kill()


def stops_are_told():
    with stuck("untraced") as it:
        it.stops()
        it.running.wait_for(r"does not stop \(state D\)")
        known = it.registers()
        check("x" in known and known.replace("x", ""), f"only where it is is known: {known}")
        it.client.send("vCont;c")
        it.stops()
        it.comes_back()
        wait_until(lambda: "x" not in it.registers(), "it stands with the others")
        it.client.send("vCont;c")
        same(it.client.receive(), f"W07;process:{it.program.pid:x}", "the program's own end")
        it.ends()


def the_server_ends(how):
    with stuck(how, traced=True) as it:
        it.running.process.send_signal(signal.SIGTERM)
        same(it.running.process.wait(timeout=20), 128 + signal.SIGTERM, "the server's status")
        it.comes_back()
        it.ends()


def it_is_detached(how):
    with stuck(how, traced=True) as it:
        it.stops()
        same(it.client.say(f"D;{it.program.pid:x}"), "OK", "detaching")
        same(status(it.program.pid, "TracerPid"), "0", "the other thread is let go")
        it.comes_back()
        it.ends()


def main():
    stops_are_told()
    for how in ("untraced", "vfork"):
        the_server_ends(how)
        it_is_detached(how)


main()
