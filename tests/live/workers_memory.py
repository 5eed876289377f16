#!/usr/bin/env python3
# skips
# timeout: 200
"""Workers that a traced server forks keep nothing of what the tracing took, however often it is
traced, and work on; and so does the server."""

import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, symbols, wait_until  # noqa: E402
from serve_common import alive  # noqa: E402
from trace_common import INFERIORS, check, need_fast_tracepoints, same  # noqa: E402

PROGRAM = INFERIORS / "preforks"
RUNS = 20
SLACK_KIB = 16  # pads, which are pages of code


class Preforks:
    def __init__(self):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.pid = self.process.pid

    def fork(self):
        self.process.stdin.write("f")
        self.process.stdin.flush()
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


def one_run(program, port):
    """Forks a worker while the server is traced. Returns it."""
    client = Client(port)
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


def main():
    need_fast_tracepoints()
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


main()
