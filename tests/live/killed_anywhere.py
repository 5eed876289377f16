#!/usr/bin/env python3
# timeout: 300
# serial
"""A traced program of many threads is killed at a random moment of what its server is doing with
it, or while it stands still under the debugger. Its parent's wait() returns within a second, the
server still answers, and it ends when it is told to.

  killed_anywhere.py [ROUNDS [SEED]]
"""

import os
import pathlib
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, status, symbols, wait_until  # noqa: E402
from trace_common import INFERIORS, check, same  # noqa: E402

PROGRAM = INFERIORS / "busy_leader"
SLEEPING, BUSY = 8, 2
DEATH_SECONDS, ANSWER_SECONDS, END_SECONDS = 1, 5, 10
LONGEST = 0.1  # of what a server is killed in the middle of
SYMBOLS = symbols(PROGRAM)
TURN, CALLED, SPINS = (SYMBOLS[name] for name in ("turn", "_start", "worker"))
WORD = 16  # digits
RSP, RIP = 7, 16  # by number; those before rip have 8 bytes each


class Debugger(Client):
    """Sends what a round is about, and waits for none of the answers: they may never come."""

    def __init__(self, port, program):
        super().__init__(port)
        self.program = program
        self.place = bias(program.pid, PROGRAM) + TURN

    def attach(self):
        check(self.say(f"vAttach;{self.program.pid:x}").startswith("T"), "attached")

    def define(self, megabytes, steps=0, trap=False):
        self.ask("QTinit")
        self.ask(f"QTBuffer:size:{megabytes << 20:x}")
        self.ask("QTBuffer:circular:1")
        kind = "" if trap else ":F5"
        self.ask(f"QTDP:1:{self.place:x}:E:{steps:x}:0{kind}-")
        self.ask(f"QTDP:-1:{self.place:x}:Rffff" + ("-" if steps else ""))
        if steps:
            self.ask(f"QTDP:-1:{self.place:x}:SRffff")

    def interrupt(self):
        self.socket.sendall(b"\x03")

    def calls(self, *functions):
        """What GDB sends before and after a call of each function by the selected thread, which
        returns to the program's entry, where a breakpoint is."""
        registers = self.say("g")
        stack = (int.from_bytes(bytes.fromhex(word_of(registers, RSP)), "little") - 512 & ~15) - 8
        led = with_word(registers, RSP, stack)
        after = [f"z0,{self.at(CALLED):x},1", f"G{registers}"]
        return [([f"M{stack:x},8:{digits(self.at(CALLED))}",
                  "G" + with_word(led, RIP, self.at(function)), f"Z0,{self.at(CALLED):x},1"],
                 after) for function in functions]

    def call(self):
        """One of turn(), up to its end. Returns what comes after it."""
        (before, after), = self.calls(TURN)
        for packet in before:
            self.ask(packet)
        check(self.say("vCont;c").startswith("T05"), "the call ends")
        same(word_of(self.say("g"), RIP), digits(self.at(CALLED)), "where it returns to")
        return after

    def at(self, symbol):
        return self.place - TURN + symbol


def digits(value):
    return value.to_bytes(8, "little").hex()


def word_of(registers, number):
    return registers[WORD * number:WORD * (number + 1)]


def with_word(registers, number, value):
    return registers[:WORD * number] + digits(value) + registers[WORD * (number + 1):]


def attaching(debugger, _):
    debugger.send(f"vAttach;{debugger.program.pid:x}")


def starting(debugger, rng):
    debugger.attach()
    debugger.define(rng.choice([1, 5, 256]))
    debugger.send("QTStart")
    debugger.send("vCont;c")


def hitting(debugger, rng):
    debugger.attach()
    debugger.define(1, trap=rng.random() < 0.5)
    debugger.ask("QTStart")
    debugger.send("vCont;c")


def tracing_steps(debugger, _):
    debugger.attach()
    debugger.define(1, steps=20, trap=True)
    debugger.ask("QTStart")
    debugger.send("vCont;c")


def stopping(debugger, _):
    hitting(debugger, random)
    time.sleep(0.02)
    debugger.interrupt()
    debugger.send("QTStop")


def starting_again(debugger, _):
    debugger.attach()
    debugger.define(1)
    for _ in range(8):
        debugger.send("QTStart")
        debugger.send("QTStop")


def stepping(debugger, _):
    debugger.attach()
    for _ in range(100):
        debugger.send("vCont;s")


def stepping_a_range(debugger, _):
    debugger.attach()
    debugger.send(f"vCont;r{debugger.place:x},{debugger.place + 64:x}:{debugger.program.pid:x};c")


def breaking(debugger, _):
    debugger.attach()
    debugger.ask(f"Z0,{debugger.place:x},1")
    for _ in range(20):
        debugger.send("vCont;c")


def interrupting(debugger, _):
    debugger.attach()
    for _ in range(10):
        debugger.send("vCont;c")
        debugger.interrupt()


def calling(debugger, rng):
    """Calls follow each other; the last one comes to no end."""
    debugger.attach()
    for packet in debugger.call():
        debugger.ask(packet)
    short, (before, _) = debugger.calls(TURN, SPINS)
    for _ in range(rng.choice([0, 20])):
        for packet in (*short[0], "vCont;c", *short[1]):
            debugger.send(packet)
    for packet in (*before, "vCont;c"):
        debugger.send(packet)


def detaching(debugger, _):
    debugger.attach()
    debugger.define(5)
    debugger.ask("QTStart")
    debugger.send(f"D;{debugger.program.pid:x}")


def standing(debugger, _):
    debugger.attach()


def standing_after_a_hit(debugger, _):
    debugger.attach()
    debugger.ask(f"Z0,{debugger.place:x},1")
    debugger.say("vCont;c")


def standing_after_a_call(debugger, _):
    debugger.attach()
    debugger.call()


def standing_traced(debugger, _):
    debugger.attach()
    debugger.define(1)
    debugger.ask("QTStart")


def non_stop(debugger, rng):
    debugger.ask("QNonStop:1")
    debugger.send(f"vAttach;{debugger.program.pid:x}")
    if rng.random() < 0.5:
        debugger.send("vCont;t")


STANDING = [standing, standing_after_a_hit, standing_after_a_call, standing_traced]
PHASES = [attaching, starting, hitting, tracing_steps, stopping, starting_again, stepping,
          stepping_a_range, breaking, interrupting, calling, detaching, *STANDING, non_stop]


def tells_of_end(debugger, resume):
    """Who debugs the program that was killed while it stood still is told when it is to go on."""
    check(debugger.say("?").startswith("T"), "it is not told before")
    debugger.say("qfThreadInfo")
    debugger.say("Hc-1")
    told = debugger.say(resume)
    check(told.startswith("X09"), f"told of the end after {resume}: {told}")


def killed_in(phase, rng):
    program = subprocess.Popen([PROGRAM, str(SLEEPING), str(BUSY)])
    try:
        wait_until(lambda: status(program.pid, "Threads") == str(SLEEPING + BUSY + 1), "threads")
        with serving("--multi", "localhost:0") as (server, port, _):
            debugger = Debugger(port, program)
            debugger.ask("!")
            phase(debugger, rng)
            time.sleep(rng.random() * LONGEST)
            program.kill()
            begin = time.monotonic()
            try:
                program.wait(timeout=DEATH_SECONDS)
            except subprocess.TimeoutExpired:
                check(False, f"{phase.__name__}: the program's death is not told to its parent")
            took = time.monotonic() - begin
            if phase in STANDING:
                tells_of_end(debugger, rng.choice(["vCont;c", "vCont;s", "c", "s"]))
            debugger.socket.close()
            again = Client(port)
            again.socket.settimeout(ANSWER_SECONDS)
            again.ask("!")
            server.terminate()
            server.wait(timeout=END_SECONDS)
            return took
    finally:
        program.kill()
        program.wait()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    longest = {}
    for number in range(rounds):
        phase = PHASES[number % len(PHASES)]
        longest[phase.__name__] = max(longest.get(phase.__name__, 0), killed_in(phase, rng))
    for name, seconds in longest.items():
        print(f"{name}: told after {1000 * seconds:.0f} ms at most")


main()
