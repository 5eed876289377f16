#!/usr/bin/env python3
# skips
# timeout: 200
"""A large trace buffer that is full is emptied, made small, and made large again: each is answered
at once, and what it took in memory is given back. Each next run is as good as the first one."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, status, symbols, wait_until  # noqa: E402
from trace_common import INFERIORS, check, need_fast_tracepoints, same  # noqa: E402

PROGRAM = INFERIORS / "hammer"
LARGE, SMALL = 700 << 20, 8 << 20
ROUNDS = 3
LONGEST = 0.05  # seconds: the shortest of the rounds, for the machine may be busy
SLACK = 16 << 20  # bytes beside the frames


def taken(path):
    return os.stat(path).st_blocks * 512


class Run:
    def __init__(self, client, program):
        self.client, self.program = client, program
        base = bias(program.pid, PROGRAM)
        self.place = base + symbols(PROGRAM)["site_call"]
        self.times = {}

    def timed(self, name, packet):
        began = time.monotonic()
        self.client.ask(packet)
        self.times.setdefault(name, []).append(time.monotonic() - began)

    def is_full(self):
        self.client.send("vCont;c")
        time.sleep(0.1)
        self.client.socket.sendall(b"\x03")
        check(self.client.receive().startswith("T"), "stopped")
        return ";tfull:" in self.client.say("qTStatus")

    def fill(self, size):
        """Until the run ends since nothing more fits."""
        self.client.ask(f"QTDP:1:{self.place:x}:E:0:0:F5-")
        self.client.ask(f"QTDP:-1:{self.place:x}:R0fffM-1,{self.place & ~0xfff:x},1000")
        self.client.ask("QTStart")
        wait_until(self.is_full, "the buffer is full")
        self.client.ask("QTStop")
        frames = self.client.frames_created()
        check(frames > size // 5000, f"{frames} frames in {size} bytes")
        check(self.client.say("QTFrame:0").startswith("F0"), "the first frame")
        check(self.client.say(f"QTFrame:{frames - 1:x}").startswith("F"), "the last frame")
        self.client.ask("QTFrame:ffffffff")


def one_round(run, path):
    run.timed("another size", f"QTBuffer:size:{LARGE:x}")
    run.fill(LARGE)
    check(taken(path()) > LARGE, "it is filled")
    run.timed("emptied", "QTinit")
    run.timed("smaller", f"QTBuffer:size:{SMALL:x}")
    run.fill(SMALL)
    wait_until(lambda: taken(path()) < SMALL + SLACK, "memory is given back")


def main():
    need_fast_tracepoints()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        work = pathlib.Path(name)
        os.environ["XDG_RUNTIME_DIR"] = name
        program = subprocess.Popen([PROGRAM, "2", "0"], stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda: status(program.pid, "Threads") == "3", "threads")
            with serving("--multi", "localhost:0") as (_, port, _):
                client = Client(port)
                client.say("qSupported:multiprocess+;swbreak+;vContSupported+")
                client.say("!")
                check(client.say(f"vAttach;{program.pid:x}").startswith("T"), "attached")
                run = Run(client, program)
                for _ in range(ROUNDS):
                    one_round(run, lambda: next(work.glob("**/*.twb")))
                for name, times in run.times.items():
                    print(name, " ".join(f"{1000 * each:.1f} ms" for each in times), flush=True)
                    check(min(times) < LONGEST, f"{name}: answered at once")
                client.ask(f"D;{program.pid:x}")
                client.vanish()
            same(list(work.glob("**/*.twb")), [], "what is left")
        finally:
            program.kill()
            program.wait()


main()
