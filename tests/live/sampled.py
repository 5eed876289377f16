#!/usr/bin/env python3
# timeout: 300
"""`serve --attach-running`, and a debugger that stops the only thread of the program to read
symbols: the thread runs on, and the debugger sees where it was when it was to stop. Nothing can be
changed there, nothing is lost that happens meanwhile, and who means the stop gets it."""

import contextlib
import os
import pathlib
import re
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from lone_program import PROGRAM, STAND, Lone  # noqa: E402
from parts import chosen  # noqa: E402
from rsp_client import Client, bias, children_of, status, wait_until  # noqa: E402
from serve_client import frame  # noqa: E402
from serve_common import TRACEWELL, Server  # noqa: E402
from trace_common import check, same  # noqa: E402

FEATURES = "qSupported:multiprocess+;swbreak+;fork-events+;exec-events+"
RUNS_ON = "E.thread {0} runs on, and what is shown of it is a sample: interrupt it first"
STACK, PC = 7, 16  # GDB's numbers
FORK, EXEC, EXIT = 1, 2, 3  # wanted


class Debugger(Client):
    """As GDB begins in non-stop mode."""

    def __init__(self, port, lone):
        self.stops = []
        self.port = port
        super().__init__(port)
        self.lone = lone
        self.name = f"p{lone.pid:x}.{lone.pid:x}"
        self.say(FEATURES)
        self.ask("QNonStop:1")
        self.ask("?")
        self.ask(f"Hg{self.name}")

    def hear(self):
        more = self.read_some()
        check(more, "the server closed the connection")
        self.bytes += more

    def receive(self):
        """Notifications are kept apart: what comes ahead of an answer is dropped with it."""
        while True:
            self.take_stops()
            start = self.bytes.find(b"$")
            if start >= 0 and 0 <= self.bytes.find(b"#", start) <= len(self.bytes) - 3:
                return super().receive()
            self.hear()

    def take_stops(self):
        while found := re.search(rb"%Stop:([^#]*)#..", self.bytes):
            self.stops.append(found[1].decode())
            self.bytes = self.bytes.replace(found[0], b"", 1)

    def told(self):
        """The next stop, which it takes to be known."""
        while not self.stops:
            self.take_stops()
            if not self.stops:
                self.hear()
        if (following := self.say("vStopped")) != "OK":
            self.stops.append(following)
        return self.stops.pop(0)

    def untold(self, what):
        """Nothing was, up to the answer to this."""
        self.ask("vCont?", None)
        same(self.stops, [], what)

    def stop(self):
        self.ask(f"vCont;t:{self.name}")
        return self.told()

    def sample(self, what):
        check(self.stop().startswith("T00"), what)
        self.lone.runs(what)

    def go_on(self):
        self.ask("vCont;c")

    def register(self, number):
        return int.from_bytes(bytes.fromhex(self.say(f"p{number:x}")), "little")

    def memory(self, address, size):
        return bytes.fromhex(self.say(f"m{address:x},{size:x}"))


@contextlib.contextmanager
def served(*options):
    """(the program, its server, a debugger that has sampled it)"""
    lone = Lone()
    server = Server([*TRACEWELL, *options, "--attach-running", "localhost:0", str(lone.pid)])
    try:
        port = int(server.wait_for(r"Listening on port (\d+)").group(1))
        debugger = Debugger(port, lone)
        debugger.sample("sampled")
        yield lone, server, debugger
        if lone.program.poll() is None:
            same(lone.word("wrong"), 0, "sums of turns")
    finally:
        server.stop()
        if lone.program.poll() is None:
            lone.runs("let go")
        lone.program.kill()
        lone.program.wait()


def shows_one_moment():
    """Its registers and stack do not move, though it does."""
    with served() as (lone, server, debugger):
        registers = debugger.say("g")
        stack = debugger.register(STACK)
        bytes_of = debugger.memory(stack - 128, 1024)
        for _ in range(20):
            lone.runs("between two looks")
            same(debugger.say("g"), registers, "registers")
            same(debugger.memory(stack - 128, 1024), bytes_of, "stack")
            # A part of it, with what is around it on the same page.
            same(debugger.memory(stack + 8, 64), bytes_of[136:200], "a part of the stack")
        same(debugger.memory(stack - 256, 256)[128:], bytes_of[:128], "half of it")
        # Memory elsewhere is as it is now.
        turns = debugger.memory(lone.address("turns"), 8)
        wait_until(lambda: debugger.memory(lone.address("turns"), 8) != turns, "live memory")
        debugger.go_on()


def nothing_is_changed():
    with served() as (lone, server, debugger):
        why = RUNS_ON.format(lone.pid)
        stack = debugger.register(STACK)
        same(debugger.say(f"P{STACK:x}={0:016x}"), why, "P")
        same(debugger.say("G" + debugger.say("g")), why, "G")
        same(debugger.say(f"M{stack:x},8:{0:016x}"), why, "M into the stack")
        same(debugger.say(f"M{stack - 136:x},10:{0:032x}"), why, "M into the red zone")
        same(debugger.say(f"vCont;s:{debugger.name}"), why, "a step")
        same(debugger.say(f"vCont;r1,2:{debugger.name}"), why, "steps in a range")
        check(debugger.say("qXfer:siginfo:read::0,80").startswith("E"), "no signal of its own")
        debugger.ask(f"M{lone.address('word'):x},8:0100000000000000")
        same(lone.word("word"), 1, "M elsewhere")
        lone.runs("after all that")
        # Interrupted, it stands still, and all of that can be done.
        again = debugger.stop()
        lone.stands("interrupted")
        check(re.search(r";00:\w{16};01:\w{16};.*;10:", ";" + again[3:]), f"all of them: {again}")
        found = re.search(r";10:(\w+);", again)[1]
        same(debugger.say(f"p{PC:x}"), found, "where it stands")
        debugger.ask(f"P{PC:x}={found}")
        debugger.ask(f"vCont;s:{debugger.name}")
        check(debugger.told().startswith("T05"), "a step")
        debugger.go_on()
        lone.runs("let go on")
        same(debugger.say("g"), "E01", "of one that runs")


def another_pc_is_refused():
    """As a debugger writes that believes the thread to be at a breakpoint of its own. However often
    it tries, the thread does not go there, nor is it stopped: what is written is for another
    place."""
    with served() as (lone, server, debugger):
        for _ in range(3):
            refused = debugger.say(f"P{PC:x}={0:016x}")
            check(refused.startswith(f"E.thread {lone.pid} runs on") and "delete it" in refused,
                  refused)
            refused = debugger.say(f"vCont;s:{debugger.name}")
            same(refused, RUNS_ON.format(lone.pid), "a step")
        debugger.untold("refused")
        lone.runs("after all that")
        debugger.go_on()
        lone.runs("let go on")


def is_let_go_on_once():
    with served() as (lone, server, debugger):
        debugger.go_on()
        lone.runs("let go on")
        debugger.untold("let go on")
        # From now on a stop is one.
        check(debugger.stop().startswith("T00"), "a stop")
        lone.stands("the second stop")
        debugger.go_on()
        lone.runs("let go on again")


def is_asked_twice():
    """Before it is told of the first time: it is told of both."""
    with served() as (lone, server, debugger):
        debugger.vanish()
        server.wait_for("Remote side has terminated connection")
        debugger = Debugger(debugger.port, lone)
        request = frame(f"vCont;t:{debugger.name}")
        debugger.socket.sendall(request + request)
        same([debugger.receive(), debugger.receive()], ["OK", "OK"], "both requests")
        check(debugger.told().startswith("T00"), "the first")
        check(";00:" in debugger.told().replace("T00", ";"), "the second, with all registers")
        lone.stands("asked twice")
        debugger.go_on()


def breakpoints_wait():
    for step in ("let go on", "interrupted"):
        with served() as (lone, server, debugger):
            registers = debugger.say("g")
            place = f"{lone.address('down'):x}"
            debugger.ask(f"Z0,{place},1")
            lone.stands("at the breakpoint")
            debugger.untold("before it is let go on")
            same(debugger.say("g"), registers, "what was told is what is shown")
            debugger.ask("vCont;c" if step == "let go on" else f"vCont;t:{debugger.name}")
            check("swbreak" in debugger.told(), "the breakpoint")
            same(debugger.register(PC), lone.address("down"), "where it is")
            lone.stands("told of the breakpoint")
            debugger.untold("told once")
            debugger.ask(f"z0,{place},1")
            debugger.go_on()
            lone.runs("past the breakpoint")
            debugger.untold("told once")


def signals_reach_the_program():
    """GDB says which signals it wants once it has read symbols. Timers go off before that."""
    with served() as (lone, server, debugger):
        for count in range(1, 31):
            os.kill(lone.pid, signal.SIGUSR1)
            wait_until(lambda: lone.word("signals") == count, "the handler")
        for number in (signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH, signal.SIGCONT):
            os.kill(lone.pid, number)
            lone.runs(f"after {number.name}")
        debugger.untold("nothing has stopped")
        debugger.go_on()
        lone.runs("let go on")
        # It wants all of them, unless it says otherwise.
        os.kill(lone.pid, signal.SIGUSR1)
        check(debugger.told().startswith("T1e"), "told once it is let go on")
        same(lone.word("signals"), 30, "not delivered")
        debugger.go_on()
    # What ends the program is held back: somebody has come to look at it.
    with served() as (lone, server, debugger):
        os.kill(lone.pid, signal.SIGUSR2)
        lone.stands("about to be ended")
        debugger.untold("before it is let go on")
        debugger.go_on()
        check(debugger.told().startswith("T1f"), "what would have ended it")
        debugger.go_on()
        lone.runs("without the signal")


def signals_wait():
    """Those that it wants, once it has said so."""
    with served() as (lone, server, debugger):
        debugger.ask("QPassSignals:14")
        os.kill(lone.pid, signal.SIGUSR1)
        lone.stands("about to get a signal")
        debugger.untold("before it is let go on")
        debugger.go_on()
        check(debugger.told().startswith("T1e"), "the signal")
        same(lone.word("signals"), 0, "not delivered")
        debugger.ask(f"vCont;C1e:{debugger.name}")
        wait_until(lambda: lone.word("signals") == 1, "the handler")
        lone.runs("after the signal")
    # One that the debugger sends.
    with served() as (lone, server, debugger):
        debugger.ask(f"vCont;C1e:{debugger.name}")
        wait_until(lambda: lone.word("signals") == 1, "the handler")
        lone.runs("with a signal")
        debugger.untold("its own signal")
        same(lone.word("signals"), 1, "once")
    # And one while another is waiting to be told.
    with served() as (lone, server, debugger):
        debugger.ask("QPassSignals:14")
        os.kill(lone.pid, signal.SIGUSR1)
        lone.stands("about to get a signal")
        debugger.ask(f"vCont;C0:{debugger.name}")
        check(debugger.told().startswith("T1e"), "the signal")
        debugger.go_on()
        lone.runs("without the signal")
        same(lone.word("signals"), 0, "not delivered")


def forks_go_on():
    """As long as GDB reads symbols: a server that forks for each connection answers meanwhile."""
    with served() as (lone, server, debugger):
        for count in range(1, 6):
            lone.want(FORK)
            wait_until(lambda: lone.word("forks") == count, "the child's end")
        lone.runs("after its forks")
        debugger.untold("forks")
        debugger.go_on()
        lone.want(FORK)
        check("fork:p" in debugger.told(), "told once it is let go on")
        child = children_of(lone.pid)[0]
        debugger.ask(f"D;{child:x}")
        debugger.go_on()
        check(debugger.told().startswith("T14"), "the child's end, which it wants to know")
        debugger.go_on()
        wait_until(lambda: lone.word("forks") == 6, "the child's end")


def forks_wait():
    with served() as (lone, server, debugger):
        debugger.ask("QPassSignals:14")  # that its child has ended
        lone.want(FORK)
        wait_until(lambda: children_of(lone.pid), "a child")
        lone.stands("a fork")
        debugger.untold("before it is let go on")
        child = children_of(lone.pid)[0]
        threads = debugger.say("qXfer:threads:read::0,1000")
        check(f"p{child:x}" not in threads, f"the child is not known yet: {threads}")
        debugger.go_on()
        check(f"fork:p{child:x}.{child:x};" in debugger.told(), "the fork")
        debugger.ask(f"D;{child:x}")
        debugger.go_on()
        wait_until(lambda: lone.word("forks") == 1, "the child's end")
        lone.runs("after the fork")


def execs_are_told():
    with served() as (lone, server, debugger):
        lone.want(EXEC)
        told = debugger.told()
        check("exec:" + str(PROGRAM).encode().hex() in told, f"the exec: {told}")
        wait_until(lambda: status(lone.pid, "State") in STAND, "it stands")
        debugger.go_on()
        wait_until(lambda: status(lone.pid, "SigCgt") != "0" * 16, "the new program's handler")
        lone.bias = bias(lone.pid, PROGRAM)
        lone.runs("the new program")


def ends_are_told():
    with served() as (lone, server, debugger):
        lone.want(EXIT)
        check(debugger.told().startswith("W03"), "its end")
        same(lone.program.wait(timeout=30), 3, "its parent is told")
    with served() as (lone, server, debugger):
        os.kill(lone.pid, signal.SIGKILL)
        check(debugger.told().startswith("X09"), "its death")
        same(lone.program.wait(timeout=30), -9, "its parent is told")
    with served() as (lone, server, debugger):
        debugger.ask(f"vKill;{lone.pid:x}")
        same(lone.program.wait(timeout=30), -9, "killed")


def clients_leave():
    with served() as (lone, server, debugger):
        debugger.ask(f"D;{lone.pid:x}")
        wait_until(lambda: status(lone.pid, "TracerPid") == "0", "nobody traces it")
        lone.runs("let go")
        same(server.ended(), 0, "the server")
    # Without a word; the next one finds it running, and samples it. So it does where the thread has
    # run into a breakpoint of the one before.
    for breakpoint in (False, True):
        with served() as (lone, server, debugger):
            if breakpoint:
                debugger.ask(f"Z0,{lone.address('down'):x},1")
                lone.stands("at the breakpoint")
            debugger.vanish()
            server.wait_for("Remote side has terminated connection")
            lone.runs("left alone")
            debugger = Debugger(debugger.port, lone)
            debugger.sample("by the next debugger")
            debugger.go_on()
            lone.runs("let go on")
            debugger.untold("what the one before has left")
    # It stopped for something, and nobody came to hear of it.
    with served() as (lone, server, debugger):
        debugger.ask("QPassSignals:14")
        os.kill(lone.pid, signal.SIGUSR1)
        lone.stands("about to get a signal")
        debugger.vanish()
        wait_until(lambda: lone.word("signals") == 1, "the handler")
        lone.runs("left alone")
        # Nor does it stand still for signals that come later, or for a debugger that did not wait.
        os.kill(lone.pid, signal.SIGUSR1)
        wait_until(lambda: lone.word("signals") == 2, "the handler")
        for times in range(1, 11):
            server.wait_for("Remote side has terminated connection", times)
            debugger = Debugger(debugger.port, lone)
            debugger.socket.sendall(frame(f"vCont;t:{debugger.name}"))
            debugger.vanish()
            lone.runs("left alone")
    with served() as (lone, server, debugger):
        os.kill(server.process.pid, signal.SIGTERM)
        server.ended()
        lone.runs("without a server")


def all_stop():
    with served() as (lone, server, debugger):
        debugger.ask("QNonStop:0")
        lone.stands("all-stop")
        check(debugger.say("?").startswith("T"), "a stop")
        stack = debugger.register(STACK)
        here = debugger.memory(stack, 64)
        debugger.ask(f"M{stack:x},40:{here.hex()}")
        debugger.send("vCont;c")
        lone.runs("let go on")


def traced_meanwhile():
    """Frames come while the debugger believes the thread to stand still; none is missing."""
    for fast in ("none", "all"):
        with served("--fast-tracepoints", fast) as (lone, server, debugger):
            place = lone.address("down")
            debugger.ask("QTinit")
            debugger.ask("QTBuffer:circular:1")
            debugger.ask(f"QTDP:1:{place:016x}:E:0:0-")
            debugger.ask(f"QTDP:-1:{place:016x}:R{1 << PC:x}")
            debugger.console("QTStart")
            wait_until(lambda: debugger.frames_created() > 100, f"{fast}: frames")
            lone.runs("traced")
            registers = debugger.say("g")
            same(debugger.say("g"), registers, "registers")
            debugger.go_on()
            frames = debugger.frames_created()
            wait_until(lambda: debugger.frames_created() > frames + 100, f"{fast}: more frames")
            debugger.ask("QTStop")
            lone.runs("traced no more")


def traced_alone():
    """A run that goes on without a debugger: the next one finds the program running."""
    for parting in ("vanish", "detach"):
        with served() as (lone, server, debugger):
            debugger.go_on()
            debugger.console("QTinit")
            debugger.ask("QTDisconnected:1")
            debugger.ask("QTBuffer:circular:1")
            debugger.ask(f"QTDP:1:{lone.address('down'):016x}:E:0:0-")
            debugger.console("QTStart")
            if parting == "detach":
                debugger.ask(f"D;{lone.pid:x}")
            debugger.vanish()
            server.wait_for("Remote side has terminated connection|staying attached")
            os.kill(lone.pid, signal.SIGUSR1)
            wait_until(lambda: lone.word("signals") == 1, "the handler")
            debugger = Debugger(debugger.port, lone)
            debugger.sample("while it is traced")
            wait_until(lambda: debugger.frames_created() > 0, "frames")
            frames = debugger.frames_created()
            wait_until(lambda: debugger.frames_created() > frames, "more of them")
            debugger.ask("QTStop")
            debugger.go_on()
            lone.runs("let go on")


def who_means_it():
    """GDB's user says "interrupt" while it reads symbols: it says which signals to pass, as it does
    ahead of letting a thread go on, but does not do that. It asks for the registers anew."""
    for packet in ("g", f"p{PC:x}"):
        with served() as (lone, server, debugger):
            sampled = debugger.say(packet)
            debugger.ask("QPassSignals:14")
            lone.runs("what comes next is not known yet")
            where = debugger.say(packet)
            lone.stands("looked at anew")
            debugger.untold("it is believed to stand still")
            same(debugger.say(packet), where, "where it stands")
            check(packet != "g" or where != sampled, "elsewhere")
            debugger.ask(f"P{PC:x}={debugger.say(f'p{PC:x}')}")
            stack = debugger.register(STACK)
            debugger.ask(f"M{stack:x},8:{debugger.say(f'm{stack:x},8')}")
            debugger.ask(f"vCont;s:{debugger.name}")
            check(debugger.told().startswith("T05"), "a step")
            debugger.go_on()
    # GDB that shows an all-stop program on top of a non-stop target asks for threads' births.
    with served() as (lone, server, debugger):
        debugger.vanish()
        server.wait_for("Remote side has terminated connection")
        debugger = Debugger(debugger.port, lone)
        debugger.ask("QThreadEvents:1")
        check(debugger.stop().startswith("T00"), "a stop")
        lone.stands("who asks for new threads")
        debugger.go_on()


def main():
    for part in chosen((shows_one_moment, nothing_is_changed, another_pc_is_refused,
                        is_let_go_on_once, is_asked_twice, breakpoints_wait,
                        signals_reach_the_program, signals_wait, forks_go_on,
                        forks_wait, execs_are_told, ends_are_told, clients_leave, all_stop,
                        traced_meanwhile, traced_alone, who_means_it)):
        part()


main()
