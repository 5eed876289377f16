#!/usr/bin/env python3
"""Non-stop: a program ends, or becomes another one by exec, while a debugger sends what was meant
for it. That reaches neither the programs beside it nor the one that it has become."""
# timeout: 120

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, symbols, wait_until  # noqa: E402
from serve_common import AS_GDBSERVER, INFERIORS, check, on_port, same  # noqa: E402

TURNS, BECOMES = INFERIORS / "turns", INFERIORS / "becomes"
QUIT = symbols(TURNS)["quit"]


class Debugger(Client):
    """In non-stop mode, of several programs."""

    def __init__(self, remote):
        super().__init__(int(remote.split(":")[1]))
        self.told = b""  # what was said and was no reply
        for packet in ("!", "qSupported:multiprocess+;swbreak+;fork-events+;exec-events+;"
                       "no-resumed+", "QNonStop:1", "?"):
            self.ask(packet, None)
        self.acknowledge()

    def acknowledge(self):
        while self.ask("vStopped", None) != "OK":
            pass

    def await_told(self, pattern):
        while not re.search(pattern, self.bytes):
            more = self.socket.recv(65536)
            check(more, "the server closed the connection")
            self.bytes += more

    def threads(self):
        return self.ask("qfThreadInfo", None)

    def refused(self, packet):
        got = self.ask(packet, None)
        check(got.startswith("E"), f"{packet}: {got}")


@contextlib.contextmanager
def turning():
    """A program that runs, and where its `quit` is, which ends it."""
    with subprocess.Popen([TURNS]) as program:
        try:
            wait_until(lambda: len(os.listdir(f"/proc/{program.pid}/task")) == 3, "its threads")
            yield program, bias(program.pid, TURNS) + QUIT
        finally:
            program.kill()


def word(pid, address):
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(address)
        return memory.read(4).hex()


def after_the_end(debugger):
    """All that is said of a program that was killed, at addresses of the other one."""
    with turning() as (one, place), turning() as (other, _):
        for program in (one, other):
            debugger.ask(f"vAttach;{program.pid:x}")
        debugger.ask(f"Hgp{other.pid:x}.{other.pid:x}")
        other.send_signal(signal.SIGKILL)
        wait_until(lambda: f"p{other.pid:x}." not in debugger.threads(), "the end is known")
        for packet in (f"M{place:x},4:01000000", f"X{place:x},1:1", f"m{place:x},4",
                       f"Z0,{place:x},1", f"Z2,{place:x},4", "P0=0100000000000000", "g",
                       "qXfer:siginfo:write::0:x", "QCatchSyscalls:1"):
            debugger.refused(packet)
        debugger.refused(f"Hgp{other.pid:x}.{other.pid:x}")
        debugger.refused(f"M{place:x},4:01000000")
        same(word(one.pid, place), "00000000", "the other program's memory")
        debugger.ask(f"Hgp{one.pid:x}.{one.pid:x}")
        debugger.ask(f"M{place:x},4:00000000")
        debugger.acknowledge()
        debugger.ask(f"D;{one.pid:x}")
    print("after the end of a program")


def after_an_exec(debugger):
    """Until the exec was told of, and that was acknowledged."""
    words = ";".join(str(word).encode().hex() for word in (BECOMES, TURNS))
    pid = int(re.search(r"thread:p(\w+)\.", debugger.ask(f"vRun;{words}", None))[1], 16)
    thread = f"p{pid:x}.{pid:x}"
    debugger.ask(f"Hg{thread}")
    debugger.ask(f"vCont;c:{thread}")
    debugger.await_told(rb"%Stop:T05exec:[^#]*#..")
    place = bias(pid, TURNS) + QUIT
    block = debugger.ask("g", None)
    for packet in (f"M{place:x},4:01000000", f"X{place:x},1:1", f"Z0,{place:x},1",
                   f"Z2,{place:x},4", f"G{block}", "P0=0100000000000000",
                   "qXfer:siginfo:write::0:x"):
        debugger.refused(packet)
    same(word(pid, place), "00000000", "the new program's memory")
    same(debugger.ask("g", None), block, "its registers")
    debugger.acknowledge()
    debugger.ask(f"M{place:x},4:01000000")
    same(word(pid, place), "01000000", "what is meant for it")
    debugger.ask(f"G{block}")
    debugger.ask(f"vKill;{pid:x}")
    print("after an exec")


with on_port(program=AS_GDBSERVER, options=("--multi",)) as server:
    one_session = Debugger(server.remote)
    after_the_end(one_session)
    after_an_exec(one_session)
    one_session.vanish()
