#!/usr/bin/env python3
# timeout: 400
"""A million hits in sixteen threads into a circular buffer: every hit is counted, the program
computes what it computes alone, the server's own memory stays as it is once the buffer is full.

  soak.py [HITS]
"""

import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, status, symbols  # noqa: E402
from trace_common import INFERIORS, check, same  # noqa: E402

PROGRAM = INFERIORS / "hammer"
THREADS = 16
LOOK_SECONDS = 0.05  # between two looks at the memory
GROWTH_KILOBYTES_MAX = 2048  # what an allocator may still spread out


def checksum(text):
    return re.findall(r"\b[0-9a-f]{16}\b", text)


def main():
    calls = (int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000) // THREADS
    words = [str(PROGRAM), str(THREADS), str(calls)]
    alone = subprocess.run(words, capture_output=True, text=True, check=False)
    check(len(checksum(alone.stdout)) == 1, alone.stdout)
    with serving("--once", "localhost:0", *words) as (server, port, pid):
        client = Client(port)
        base = bias(pid, PROGRAM)
        client.trace([base + symbols(PROGRAM)["site_push"]])
        tracer = status(pid, "TracerPid")
        client.send("vCont;c")
        used = []
        while not client.socket_has_data(LOOK_SECONDS):
            # Without what it sees of the program's memory, the rings: these have their size.
            used.append(int(status(tracer, "RssAnon") or used[-1]))
        same(client.receive(), f"W{alone.returncode:02x}", "how the program ends")
        same(client.frames_created(), calls * THREADS, "frames created")
        check(len(used) > 10, f"{len(used)} looks at the memory")
        growth = used[-1] - used[len(used) // 4]
        check(growth < GROWTH_KILOBYTES_MAX, f"memory grows: {used} kB")
        client.socket.close()
        said = server.said + server.stdout.read()
        same(checksum(said), checksum(alone.stdout), "what the program computes")
    print(f"{calls * THREADS} hits, {used[-1]} kB, {len(used) * LOOK_SECONDS:.0f} s")


main()
