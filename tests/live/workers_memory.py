#!/usr/bin/env python3
# skips
# timeout: 200
"""Workers that a traced server forks keep nothing of what the tracing took, however often it is
traced, and work on; and so does the server. Nor do those that live longer than the server, which is
killed while it is traced."""

import ctypes
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import (  # noqa: E402
    Client, bias, children_of, code, serving, status, symbols, wait_until)
from serve_common import alive  # noqa: E402
from trace_common import INFERIORS, check, need_fast_tracepoints, same  # noqa: E402

PROGRAM = INFERIORS / "preforks"
RUNS = 20
DEATHS, WORKERS = 20, 3
LONGEST = 0.002  # between the request for the last fork and the server's death, in seconds
SLACK_KIB = 16  # pads, which are pages of code


class Preforks:
    def __init__(self, *words):
        self.process = subprocess.Popen([PROGRAM, *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def ask_for_worker(self):
        self.process.stdin.write("f")
        self.process.stdin.flush()

    def fork(self):
        self.ask_for_worker()
        return int(self.process.stdout.readline())


def mapped_kib(pid):
    """Address space, and what is shared with a tracer."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    return int(re.search(r"VmSize:\s+(\d+)", text)[1]), maps.count("memfd:")


def works(pid):
    done = symbols(PROGRAM)["done"] + bias(pid, PROGRAM)

    def count():
        with open(f"/proc/{pid}/mem", "rb") as memory:
            memory.seek(done)
            return int.from_bytes(memory.read(8), "little")

    before = count()
    wait_until(lambda: count() > before + 5, f"{pid} works")


def begin(client, program):
    client.say("qSupported:multiprocess+;swbreak+;vContSupported+")
    client.say("!")
    check(client.say(f"vAttach;{program.pid:x}").startswith("T"), "attached")
    client.ask("QTinit")
    client.ask(f"QTBuffer:size:{16 << 20:x}")
    place = bias(program.pid, PROGRAM) + symbols(PROGRAM)["work"]
    client.ask(f"QTDP:1:{place:x}:E:0:0:F5-")
    client.ask(f"QTDP:-1:{place:x}:R0fff")
    client.ask("QTStart")
    same(mapped_kib(program.pid)[1], 1, "it is traced by a pad")


def one_run(program, port):
    """Forks a worker while the server is traced. Returns it."""
    client = Client(port)
    begin(client, program)
    client.send("vCont;c")
    worker = program.fork()
    client.socket.sendall(b"\x03")
    check(client.receive().startswith("T"), "stopped")
    wait_until(lambda: mapped_kib(worker)[1] == 0, "nothing is shared with the worker")
    client.ask("QTStop")
    check(client.frames_created() > 0, "frames")
    client.ask("D;{:x}".format(program.pid))
    client.vanish()
    return worker


def the_server_lives():
    program = Preforks()
    try:
        workers = [program.fork(), program.fork()]  # the second one has a heap, as all later ones
        plain, _ = mapped_kib(workers[1])
        with serving("--multi", "localhost:0") as (_, port, _):
            for _ in range(RUNS):
                workers.append(one_run(program, port))
        for pid in [program.pid, *workers]:
            check(alive(pid), f"{pid} lives")
            kib, shared = mapped_kib(pid)
            same(shared, 0, f"{pid} shares nothing")
            check(kib <= plain + SLACK_KIB, f"{pid} has {kib} KiB, without tracing {plain}")
            works(pid)
    finally:
        program.process.kill()
        program.process.wait()


def parts(pid):
    """Its mappings: what /proc/PID/smaps says of each."""
    text = pathlib.Path(f"/proc/{pid}/smaps").read_text()
    return re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", text, flags=re.MULTILINE)[1:]


def place_of(part):
    """Addresses and rights."""
    return part.split()[:2]


def is_pad(part):
    """Code without a file, which is no process's but this one's."""
    return re.match(r"[0-9a-f]+-[0-9a-f]+ r-xp 0+ 00:00 0 *$", part, re.MULTILINE)


def has_pads_alone(pid, plain):
    """`plain`: a worker of the same server that was forked before that was traced."""
    known = [place_of(part) for part in parts(plain)]
    more = [part for part in parts(pid) if place_of(part) not in known]
    same([part for part in more if not is_pad(part)], [], f"what {pid} has beside pads")
    kib = sum(int(re.search(r"^Size: +(\d+) kB$", part, re.MULTILINE)[1]) for part in more)
    check(kib <= SLACK_KIB, f"{pid} has pads of {kib} KiB")
    same(mapped_kib(pid)[1], 0, f"{pid} shares nothing")
    work = bias(plain, PROGRAM) + symbols(PROGRAM)["work"]
    same(code(pid, work), code(plain, work), f"the code of {pid}")
    works(pid)


def adopt_orphans():
    """Who is left without a parent is this process's child (PR_SET_CHILD_SUBREAPER)."""
    check(ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0, "orphans come to us")


def orphans():
    return [pid for pid in children_of(os.getpid())
            if os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(PROGRAM)]


def the_server_dies(rng, port):
    """It is killed in the middle of a trace, at any moment of its last fork. Returns how many
    workers it leaves behind."""
    program = Preforks("outlive")
    try:
        program.fork()
        plain = program.fork()  # it has a heap, as all later ones
        client = Client(port)
        begin(client, program)
        client.send("vCont;c")
        traced = [program.fork() for _ in range(WORKERS)]
        program.ask_for_worker()
        time.sleep(rng.random() * LONGEST)
        os.kill(program.pid, signal.SIGKILL)
        check(client.receive().startswith("X09"), "the server's end is told")
        program.process.wait()
        left = orphans()
        check(set(left) > set(traced), f"{traced} live on, of {left}")
        for pid in left:
            wait_until(lambda: status(pid, "TracerPid") == "0", f"{pid} is let go")
        for pid in left:
            has_pads_alone(pid, plain)
        client.vanish()
        return len(left)
    finally:
        program.process.kill()
        program.process.wait()
        for pid in orphans():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def the_server_dies_often():
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    with serving("--multi", "localhost:0") as (_, port, _):
        left = [the_server_dies(rng, port) for _ in range(DEATHS)]
    print(f"workers that live on: {left}", flush=True)


def main():
    need_fast_tracepoints()
    the_server_lives()
    adopt_orphans()
    the_server_dies_often()


main()
