"""A program with one thread, which counts its turns, and what it is doing.

Not a test itself (not executable).
"""

import atexit
import os
import struct
import subprocess

from rsp_client import bias, status, symbols, wait_until
from trace_common import INFERIORS, same

PROGRAM = INFERIORS / "lone"
SYMBOLS = symbols(PROGRAM)
STAND = "tT"  # in a stop of its tracer's; by job control


class Lone:
    def __init__(self):
        self.program = subprocess.Popen([PROGRAM])
        atexit.register(self.program.kill)
        self.pid = self.program.pid
        wait_until(lambda: os.readlink(f"/proc/{self.pid}/exe") == str(PROGRAM), "the program")
        wait_until(lambda: status(self.pid, "SigCgt") != "0" * 16, "its handler")
        self.bias = bias(self.pid, PROGRAM)

    def address(self, name):
        return self.bias + SYMBOLS[name]

    def word(self, name, value=None, layout="<Q"):
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(self.address(name))
            if value is None:
                return struct.unpack(layout, memory.read(struct.calcsize(layout)))[0]
            return memory.write(struct.pack(layout, value))

    def want(self, what):
        self.word("wanted", what, "<i")

    def runs(self, what):
        """Until it has done two turns more: one of them as a whole."""
        before = self.word("turns")
        wait_until(lambda: self.word("turns") >= before + 2, f"{what}: the program runs")

    def stands(self, what):
        wait_until(lambda: status(self.pid, "State") in STAND, f"{what}: the thread stands")
        before = self.word("turns")
        same(self.word("turns"), before, what)
