"""A program whose threads watch the clock, and how often it stood still.

Not a test itself (not executable).
"""

import contextlib
import pathlib
import struct
import subprocess

from rsp_client import bias, status, symbols, wait_until
from trace_common import INFERIORS

PROGRAM = INFERIORS / "watches_clock"
SYMBOLS = symbols(PROGRAM)
PLACES = 10


class Watcher:
    def __init__(self, program, busy, idle):
        self.pid = program.pid
        wait_until(lambda: status(self.pid, "Threads") == str(busy + idle), "threads")
        self.bias = bias(self.pid, PROGRAM)
        tids = sorted(int(one.name) for one in pathlib.Path(f"/proc/{self.pid}/task").iterdir())
        # They are started first. Those that sleep are stopped by nobody but a tracer.
        self.idle = tids[1:1 + idle]
        wait_until(lambda: all(status(tid, "State") == "S" for tid in self.idle), "idle threads")

    def address(self, name):
        return self.bias + SYMBOLS[name]

    def word(self, name, value=None):
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(self.address(name))
            if value is None:
                return struct.unpack("<Q", memory.read(8))[0]
            return memory.write(struct.pack("<Q", value))

    def runs(self):
        """Until it has."""
        before = self.word("turns")
        wait_until(lambda: self.word("turns") != before, "the program runs")

    def switches(self):
        """How often each of its idle threads has gone to sleep, again after each stop."""
        wait_until(lambda: all(status(tid, "State") in "St" for tid in self.idle), "idle threads")
        return {tid: int(status(tid, "voluntary_ctxt_switches")) for tid in self.idle}

    def stops(self, what):
        """How often the program as a whole stood still during `what`, and for how many ms at most.
        What is done by one thread of it is no such stop."""
        before = self.switches()
        self.word("longest_ns", 0)
        what()
        self.runs()
        after = self.switches()
        middle = sorted(after[tid] - before[tid] for tid in self.idle)[len(self.idle) // 2]
        return middle, self.word("longest_ns") / 1e6


@contextlib.contextmanager
def watching(busy, idle):
    program = subprocess.Popen([PROGRAM, str(busy), str(idle)], stdout=subprocess.DEVNULL)
    try:
        yield Watcher(program, busy, idle)
    finally:
        program.kill()
        program.wait()
