"""An event whose debugger types ahead: a whole trace is defined and begun before any answer is
read. It may also close in the middle of that.
"""

import functools
import random
import re
import struct
import subprocess

from .common import Finding, demand, read, settle
from .debugger import Ended
from .events import END_SECONDS, Event
from .typist import Typist, frame

# The same as events.ACTIONS, as packets have them: bits of registers are their numbers.
PACKETS = {"collect $regs": "R1ffff", "collect $rdi, $rip": "R10020",
           "collect *(long *) $rdi@2": "M5,0,10", "collect $rsp, $rdx": "R88"}
# Those that GDB lets a program have without a stop, and SIGUSR1, which postgres lives with.
PASSED = "QPassSignals:e;10;14;17;1a;1b;1c;1e;21;24;25;2c;4c"
STACK_IS_NOT_NULL = "X8,2600072200130e27"
WAYS = ("closes", "closes", "resets", "ends typing", "has read an answer")
TYPED_AGAIN = 4  # runs that are begun in one go


@functools.cache
def offset_of(path, name):
    """Of a function, in its file's addresses."""
    done = subprocess.run(["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off",
                           "-iex", "set auto-load no", "-ex",
                           f"print/x (unsigned long) &{name}", path],
                          capture_output=True, text=True)
    found = re.search(r"= (0x\w+)", done.stdout)
    demand(found, f"GDB does not know where {name} is: {done.stdout}{done.stderr}")
    return int(found[1], 16)


def bias(pid):
    """Of the program that the process runs: what its addresses are moved by."""
    with open(f"/proc/{pid}/exe", "rb") as file:
        if struct.unpack_from("<H", file.read(18), 16)[0] == 2:  # ET_EXEC
            return 0
    base = read(f"/proc/{pid}/maps").split("-", 1)[0]
    return int(base, 16)


class AheadEvent(Event):
    def __init__(self, soak, number, rng):
        super().__init__(soak, number, rng)
        self.limited = False
        self.rng = random.Random(f"{soak.seed}/{number}/typist")
        self.no_ack = self.rng.random() < 0.7
        self.cut = None
        if self.victim == "gdb":
            self.disconnects = self.rng.random() < 0.4
            if not self.anywhere:
                self.cut = self.rng.choice(WAYS)
        if self.disconnects:
            self.moments = []
        self.places = None

    def __str__(self):
        more = f", in the middle, it {self.cut}" if self.cut else ""
        return f"{super().__str__()}, types ahead{more}"

    def kill_victim(self):
        if self.victim != "gdb":
            return super().kill_victim()
        settle(self.victim_is_there, "the debugger is not there")
        self.struck.set()
        self.gdbs[-1].vanish()

    # What is typed.

    def hello(self):
        return ["qSupported:swbreak+;hwbreak+", *(["QStartNoAckMode"] if self.no_ack else []),
                *(["QNonStop:1"] if self.running else []), PASSED]

    def answers_to_hello(self):
        return [".*PacketSize=.*", *["OK"] * (len(self.hello()) - 1)]

    def locations(self):
        path = f"/proc/{self.pid}/exe"
        name = subprocess.run(["readlink", "-f", path], capture_output=True, text=True).stdout
        base = bias(self.pid)
        return [base + offset_of(name.strip(), point) for point, _ in self.points]

    def definitions(self):
        out = ["QTinit"]
        for number, (place, (_, actions)) in enumerate(zip(self.places, self.points), 1):
            words = f"E:{self.steps:x}:0" + ("" if self.traps else ":F5")
            words += f":{STACK_IS_NOT_NULL}" if self.condition else ""
            out += [f"QTDP:{number:x}:{place:x}:{words}-",
                    f"QTDP:-{number:x}:{place:x}:{PACKETS[actions]}" + ("-" if self.steps else "")]
            if self.steps:
                out.append(f"QTDP:-{number:x}:{place:x}:SR10000")
        return out + [f"QTBuffer:size:{self.megabytes << 20:x}",
                      f"QTBuffer:circular:{self.circular:x}",
                      f"QTDisconnected:{self.disconnects:x}"]

    def debugger(self):
        one = Typist(self.port, self.rng)
        self.gdbs.append(one)
        return one

    def start(self, group):
        self.places = self.locations()
        if not self.running:
            self.watch.begin_stand()
        self.port = self.begin_server(group)
        typist = self.debugger()
        definitions = self.definitions()
        burst = [*self.hello(), "qTStatus", *definitions, "QTStart", "qTStatus"]
        goes_on = not self.running and not self.disconnects
        if self.cut:
            self.cut_short(typist, [*burst, *(["vCont;c"] if goes_on else [])])
        typist.type(*burst, *(["vCont;c"] if goes_on else []))
        typist.answers(*self.answers_to_hello())
        self.connected = True
        typist.answers("T0;tnotrun:0.*", *["OK"] * len(definitions), "OK")
        self.numbers(typist.answer("T1;.*"), stands=not self.running)
        self.soak.count("bursts typed ahead")
        if self.disconnects:
            typist.close()
        return typist, self.port

    def numbers(self, text, stands=False):
        """(kept, created) of a status. Where the program has not run since, there are none."""
        found = [re.search(rf";{name}:([0-9a-f]+)", text) for name in ("tframes", "tcreated")]
        demand(all(found), f"qTStatus tells no numbers: {text!r}")
        kept, created = (int(one[1], 16) for one in found)
        demand(not stands or kept == created == 0, f"a run that has just begun has {kept} frames: "
               f"{text!r}")
        return kept, created

    def begin_anew(self, typist):
        """Several runs in one go; the last one stays."""
        if not self.running:
            self.watch.begin_stand()
        again = [*(["QTStop"] if self.stops_first else []), *self.definitions(), "QTStart",
                 "qTStatus"]
        typist.type(*([] if self.running else ["\x03"]), *again * TYPED_AGAIN,
                    *([] if self.running else ["vCont;c"]))
        if not self.running:
            typist.answer("[TS].*")
        for _ in range(TYPED_AGAIN):
            typist.answers(*["OK"] * (len(again) - 1))
            self.numbers(typist.answer("T1;.*"), stands=not self.running)
        self.soak.longest("stand_anew", self.watch.end_stand())
        self.soak.count("runs begun anew", TYPED_AGAIN)

    def finish(self, typist, port):
        if not self.running:
            self.watch.begin_stand()
        status = [f"qTP:{number:x}:{place:x}" for number, place in enumerate(self.places, 1)]
        ends = ["qTStatus", "QTStop", "qTStatus", *status, "QTFrame:0", "QTFrame:ffffffff"]
        if self.disconnects:
            typist = self.debugger()
            typist.type(*self.hello(), *ends)
            typist.answers(*self.answers_to_hello())
        else:
            typist.type(*([] if self.running else ["\x03"]), *ends)
            if not self.running:
                typist.answer("[TS].*")
        before, _, text = typist.answers("T.*", "OK", "T0;.*")
        full = before.startswith("T0;tfull")
        demand(full or before.startswith("T1"), f"the run did not go on: {before}")
        hits = [int(re.match("V([0-9a-f]+):", one)[1], 16)
                for one in typist.answers(*["V[0-9a-f]+:[0-9a-f]+"] * len(status))]
        kept, created = self.numbers(text)
        typist.answers("F0T[12]" if kept else "F-1", "OK")
        return self.end_of_run(typist, full or "tfull" in text, hits, kept, created)

    def end_of_run(self, typist, full, hits, kept, created):
        self.compare_buffer(kept, created)
        lost = self.compare_frames(full, hits, kept, created)
        self.detach(typist)
        return full, hits[0], lost

    def detach(self, typist):
        self.may_end()
        typist.type("D")
        typist.answer("OK")

    # Closing in the middle.

    def cut_short(self, typist, burst):
        """Whole packets are obeyed, or the connection's end is noticed before: whichever it was,
        the service goes on, and a server that listens again lets the next one in."""
        data = b"".join(frame(one) for one in burst)
        first = len(frame(burst[0]))
        size = self.rng.randrange(first, len(data)) if self.cut == "has read an answer" else \
            self.rng.randrange(len(data))
        whole = sum(len(b"".join(frame(one) for one in burst[:i])) <= size
                    for i in range(1, len(burst) + 1))
        typist.log.append(f"> {whole} packets of {len(burst)}, and {self.cut}")
        self.struck.set()
        if self.cut == "has read an answer":
            typist.type(burst[0])
            typist.answer(".*PacketSize=.*")
            self.connected = True
            typist.push(data[first:size])
        elif size:
            typist.push(data[:size])
        if self.cut == "ends typing":
            typist.end_of_typing()
            answered = typist.until_closed()
            # One that lets the program run has no answer yet.
            runs = "vCont;c" in burst[:whole]
            demand(whole - runs <= answered <= whole, f"{answered} answers to {whole} packets")
        typist.reset() if self.cut == "resets" else typist.close()
        self.soak.count("bursts cut short")
        self.come_again(size >= first)
        raise Ended("the debugger closed in the middle")

    def come_again(self, was_debugger):
        """With --once, who has said something was the one; others were nobody's."""
        sure = self.cut == "has read an answer" or not was_debugger
        if not self.disconnects and was_debugger:
            if self.server.ended(END_SECONDS):
                return
            demand(not sure, f"the server does not end with its debugger's connection (--once), in "
                   f"{END_SECONDS} s")
        typist = self.debugger()
        typist.type(*self.hello(), "qTStatus", "QTStop", "D")
        typist.answers(*self.answers_to_hello(), "T[01];.*", "OK", "OK")
        demand(self.server.ended(END_SECONDS), "the server does not end though its program was "
               f"detached from, in {END_SECONDS} s")
        self.soak.count("came again after a cut")
