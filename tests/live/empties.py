#!/usr/bin/env python3
# serial
# timeout: 200
"""A trace buffer of half a gigabyte is emptied, and gets another size (non-stop). Its memory takes
long to go back to the system. Meanwhile the server looks after the program: a thread that gets
signals does not stand still."""

import contextlib
import ctypes
import os
import pathlib
import signal
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, serving  # noqa: E402
from sustained import TracedRunning, counts  # noqa: E402
from trace_common import check, folder, need_fast_tracepoints, same  # noqa: E402

LIBC, TGKILL = ctypes.CDLL(None), 234
ROUNDS = 4
MEGABYTES, MEGABYTES_MAX = 600, 2400
WITHIN_MS = 50
PASSED = "QPassSignals:1c"  # SIGWINCH, by GDB's number


class Disturbed:
    """Sends the program's thread signals, and notes how long it stands at most."""

    def __init__(self, program):
        self.program = program
        # The one that works. The others make system calls for the server.
        self.tid = sorted(map(int, os.listdir(f"/proc/{program.pid}/task")))[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.longest = 0.0
        self.ended = False

    def run(self):
        """It stood from the first look that finds a number of calls to the last one."""
        before, since = None, 0.0
        while not self.ended:
            now = time.monotonic()
            calls = self.program.calls()
            if calls != before:
                before, since = calls, now
            self.longest = max(self.longest, now - since)
            LIBC.syscall(TGKILL, self.program.pid, self.tid, signal.SIGWINCH)
            time.sleep(0.001)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()


def fill(program, client, megabytes):
    """Until there is no room for another frame."""
    client.ask(f"QTBuffer:size:{megabytes << 20:x}")
    client.ask("QTBuffer:circular:0")
    client.ask(f"QTDP:1:{program.place:x}:E:0:0:F5-")
    client.ask(f"QTDP:-1:{program.place:x}:M5,0,8")
    client.ask("QTStart")
    while "tfull" not in client.ask("qTStatus", None):
        time.sleep(0.1)
    _, numbers = counts(client, program)
    check(numbers["tframes"] > megabytes * 10000, numbers)


def begin_anew(program, client):
    client.ask("QTinit")
    client.ask(f"QTDP:1:{program.place:x}:E:0:0:F5-")
    client.ask("QTStart")
    client.ask("QTStop")


def change_size(client, megabytes):
    """What comes while an answer is due has its turn."""
    client.send(f"QTBuffer:size:{megabytes << 20:x}")
    time.sleep(0.01)
    client.send("qTStatus")
    same(client.receive(), "OK", "QTBuffer:size")
    check(client.receive().startswith("T0"), "qTStatus")


def disturbed(program, what):
    with Disturbed(program) as noted:
        begin = time.monotonic()
        what()
        took = time.monotonic() - begin
    return 1000 * noted.longest, 1000 * took


def hears_others(what, times):
    """A machine may be busy for a moment: it is the least of some that counts."""
    told = " ".join(f"{one:.0f}/{other:.0f}" for one, other in times)
    print(f"{what}: stood/took {told} ms", flush=True)
    check(min(stood for stood, _ in times) <= WITHIN_MS,
          f"{what}: a thread with a signal stands still: {told} ms")


@contextlib.contextmanager
def traced(*words):
    program = TracedRunning(1)
    try:
        with serving("--attach-running", *words, "localhost:0", str(program.pid)) as (_, port, _):
            client = Client(port)
            client.socket.settimeout(300)
            for packet, expected in (("QNonStop:1", "OK"), ("?", None), (PASSED, "OK"),
                                     ("vCont;c", "OK"), ("QTinit", "OK")):
                client.ask(packet, expected)
            program.poke()
            yield program, client
    finally:
        program.end()


def empties(megabytes, *words):
    anew, sizes = [], []
    with traced(*words) as (program, client):
        for number in range(ROUNDS):
            fill(program, client, megabytes)
            anew.append(disturbed(program, lambda: begin_anew(program, client)))
            same(counts(client, program)[1]["tsize"], megabytes << 20, "size")
            fill(program, client, megabytes)
            size = megabytes + number % 2
            sizes.append(disturbed(program, lambda: change_size(client, size)))
            client.ask("QTinit")
            same(counts(client, program)[1]["tsize"], size << 20, "size")
        ends_its_side(program, client, megabytes)
    return anew, sizes


def ends_its_side(program, client, megabytes):
    """Who says no more is answered all the same."""
    fill(program, client, megabytes)
    client.send(f"QTBuffer:size:{megabytes << 19:x}")
    client.send("qTStatus")
    client.socket.shutdown(socket.SHUT_WR)
    same(client.receive(), "OK", "QTBuffer:size")
    check(f"tsize:{megabytes << 19:x};" in client.receive(), "qTStatus")


def takes_long(times):
    """Longer than the thread may stand; else nothing is shown."""
    return min(took for _, took in times) > WITHIN_MS


def tried(megabytes, *words):
    """With as much memory as takes long here."""
    anew, sizes = empties(megabytes, *words)
    if takes_long(anew) and takes_long(sizes):
        return anew, sizes
    check(megabytes < MEGABYTES_MAX, f"{megabytes} MB go back at once")
    return tried(2 * megabytes, *words)


def main():
    need_fast_tracepoints()
    with folder() as work:
        in_file = tried(MEGABYTES, "--buffer", f"{work}/buffer.twb")
    os.environ["XDG_RUNTIME_DIR"] = "/nonexistent"
    for name, (anew, sizes) in (("file", in_file), ("memory", tried(MEGABYTES))):
        hears_others(f"{name}, begun anew", anew)
        hears_others(f"{name}, another size", sizes)


main()
