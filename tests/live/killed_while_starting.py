#!/usr/bin/env python3
# timeout: 200
"""A program of many threads is killed while a trace run starts, at a random moment of it. Its
parent learns of its death at once, and the server lives and ends when it is told to.

  killed_while_starting.py [ROUNDS [SEED]]
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
from serve_client import frame  # noqa: E402
from trace_common import INFERIORS, check  # noqa: E402

PROGRAM = INFERIORS / "busy_leader"
THREADS = 8
BUFFER_BYTES = 256 << 20  # memory that is populated while the program waits: some 50 ms
DEATH_SECONDS = 10  # a server that holds on to it does so for ever


def one_round(rng, place_in_file):
    program = subprocess.Popen([PROGRAM, str(THREADS)])
    try:
        wait_until(lambda: status(program.pid, "Threads") == str(THREADS + 1), "threads")
        base = bias(program.pid, PROGRAM)
        with serving("--attach", "localhost:0", str(program.pid)) as (server, port, _):
            client = Client(port)
            client.ask("QTinit")
            client.ask(f"QTBuffer:size:{BUFFER_BYTES:x}")
            client.ask("QTDisconnected:1")
            client.ask(f"QTDP:1:{base + place_in_file:x}:E:0:0:F5-")
            client.ask(f"QTDP:-1:{base + place_in_file:x}:Rffff")
            client.socket.sendall(frame("QTStart") + frame("vCont;c"))
            time.sleep(rng.random() * 0.1)
            program.kill()
            try:
                program.wait(timeout=DEATH_SECONDS)
            except subprocess.TimeoutExpired:
                check(False, "the program's death is not told to its parent")
            server.terminate()
            server.wait(timeout=30)
    finally:
        program.kill()
        program.wait()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    for _ in range(rounds):
        one_round(rng, symbols(PROGRAM)["turn"])


main()
