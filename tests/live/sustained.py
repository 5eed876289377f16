"""Threads that hit a fast tracepoint as fast as they can, and what their server has of it.

Not a test itself (not executable).
"""

import contextlib
import re
import subprocess
import time

from rsp_client import Client, bias, serving, status, symbols
from trace_common import INFERIORS, check, same

PROGRAM = INFERIORS / "sustains"
OWN_BYTES = 128
RDI = 5  # by the target description


class Sustained:
    """The program, traced or not, whose threads have not begun yet."""

    def __init__(self, threads, seconds=60):
        self.threads = threads
        self.process = subprocess.Popen([PROGRAM, str(threads), str(seconds)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.owns = int(self.process.stdout.readline(), 16)
        self.place = bias(self.pid, PROGRAM) + symbols(PROGRAM)["hit"]

    def poke(self):
        self.process.stdin.write("x")
        self.process.stdin.flush()

    def results(self):
        """(calls, nanoseconds) of each thread, once they are to end."""
        self.poke()
        return [tuple(map(int, self.process.stdout.readline().split()))
                for _ in range(self.threads)]

    def end(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def untraced(threads):
    program = Sustained(threads)
    try:
        yield program
    finally:
        program.end()


class Traced(Sustained):
    def begin(self, client, megabytes, circular, numbers=3):
        """The run, and the threads."""
        client.ask("QTinit")
        client.ask(f"QTBuffer:size:{megabytes << 20:x}")
        client.ask(f"QTBuffer:circular:{int(circular)}")
        client.ask(f"QTDP:1:{self.place:x}:E:0:0:F5-")
        actions = "".join(f"M{RDI:x},{8 * i:x},8" for i in range(numbers))
        client.ask(f"QTDP:-1:{self.place:x}:{actions}")
        client.ask("QTStart")
        self.go_on(client)
        self.tracer = int(status(self.pid, "TracerPid"))
        self.poke()

    def go_on(self, client):
        client.send("vCont;c")


class TracedRunning(Traced):
    """In non-stop mode: its debugger has never stopped it."""

    def begin(self, client, megabytes, circular, numbers=3):
        client.ask("QNonStop:1")
        client.ask("?")
        super().begin(client, megabytes, circular, numbers)

    def go_on(self, client):
        client.ask("vCont;c")

    def calls(self):
        """Of each thread, so far."""
        with open(f"/proc/{self.pid}/mem", "rb", 0) as memory:
            memory.seek(self.owns)
            owns = memory.read(self.threads * OWN_BYTES)
        return [int.from_bytes(owns[i * OWN_BYTES:][:8], "little") for i in range(self.threads)]


@contextlib.contextmanager
def traced_running(threads, megabytes):
    program = TracedRunning(threads)
    try:
        with serving("--attach-running", "localhost:0", str(program.pid)) as (_, port, _):
            client = Client(port)
            client.socket.settimeout(300)
            program.begin(client, megabytes, True)
            yield program, client
    finally:
        program.end()


@contextlib.contextmanager
def traced(threads, megabytes, circular=True, numbers=3):
    program = Traced(threads)
    try:
        with serving("--attach", "localhost:0", str(program.pid)) as (_, port, _):
            client = Client(port)
            client.socket.settimeout(300)
            program.begin(client, megabytes, circular, numbers)
            yield program, client
    finally:
        program.end()


def stop(client):
    """Ctrl-C. Returns the seconds to the answer."""
    begin = time.monotonic()
    client.socket.sendall(b"\x03")
    check(client.receive().startswith("T"), "stopped")
    return time.monotonic() - begin


def counts(client, program):
    """After the end of a run: hits of its tracepoint, and the status's numbers."""
    hits = int(re.match(r"V(\w+):", client.ask(f"qTP:1:{program.place:x}", None))[1], 16)
    text = client.ask("qTStatus", None)
    numbers = {key: int(value, 16) for key, value in
               re.findall(r"(tframes|tcreated|tfree|tsize):(\w+)", text)}
    return hits, numbers


def numbers_of(client, program, frame):
    """(thread's index, its numbers) of a frame."""
    client.say(f"QTFrame:{frame:x}")
    for index in range(program.threads):
        own = program.owns + index * OWN_BYTES
        got = [client.say(f"m{own + at:x},8") for at in (0, 8, 16)]
        if all(len(one) == 16 for one in got):
            return index, tuple(int.from_bytes(bytes.fromhex(one), "little") for one in got)
    raise LookupError(f"frame {frame} is of no thread")


def newest_first(client, program, frames, calls, what):
    """From the last frame back: each thread's numbers go down by one from what it has counted. At a
    hit, the numbers are those before."""
    expected = {index: count - 1 for index, count in enumerate(calls)}
    for frame in range(frames - 1, max(frames - 200, -1), -1):
        index, (a, b, c) = numbers_of(client, program, frame)
        same((a, b, c), (expected[index], 2 * expected[index], 3 * expected[index]),
             f"{what}: frame {frame} of thread {index}")
        expected[index] -= 1
