#!/usr/bin/env python3
# skips
# timeout: 300
# serial
"""What a run takes in memory is bounded by the size of the trace buffer, however many threads the
program has: what collects in the program, and the frames that are kept, together at most 1.25 times
that size and 4 MiB. TRACEWELL_LONG=1: each size with each number of threads.

Thousands of threads leave other tests no processor, and where others leave them none, many are in
the middle of a hit as they are to stop: to lead each of them out takes hundreds of single steps."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, status, symbols, wait_until  # noqa: E402
from trace_common import INFERIORS, check, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "busy_leader"
LOOKS = 20
BUSY_MAX = 64  # threads that do nothing but hit
EACH_US = "700000"  # between two hits of each thread that does not hit all the time
TURN = symbols(PROGRAM)["turn"]
MIB = 1 << 20
EACH_SIZE = (1, 5, 100)
LONG = "TRACEWELL_LONG" in os.environ
SIZES = {1: EACH_SIZE, 8: EACH_SIZE if LONG else (5,), 64: EACH_SIZE if LONG else (1, 100),
         500: EACH_SIZE if LONG else (5,), 4000: (5,)}


def allocated(path):
    return os.stat(path).st_blocks * 512


def shared_with(pid):
    """Bytes that the memory has which the program shares with its tracer."""
    sizes = [allocated(f"/proc/{pid}/map_files/{line.split()[0]}")
             for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
             if "memfd:tracewell" in line]
    check(len(sizes) == 1, f"one area: {sizes}")
    return sizes[0]


def most_taken(threads, buffer_bytes, actions):
    busy = threads - 1 if threads <= BUSY_MAX else 0
    program = subprocess.Popen([PROGRAM, str(threads - 1 - busy), str(busy), EACH_US])
    try:
        wait_until(lambda: status(program.pid, "Threads") == str(threads), "threads")
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "kept.twb"
            with serving("--buffer", str(kept), "--attach", "localhost:0",
                         str(program.pid)) as (_, port, _):
                client = Client(port)
                place = bias(program.pid, PROGRAM) + TURN
                client.ask("QTinit")
                client.ask(f"QTBuffer:size:{buffer_bytes:x}")
                client.ask("QTBuffer:circular:1")
                client.ask(f"QTDP:1:{place:x}:E:0:0:F5-")
                client.ask(f"QTDP:-1:{place:x}:{actions}")
                client.ask("QTStart")
                client.send("vCont;c")
                most = 0
                for _ in range(LOOKS):
                    time.sleep(0.05)
                    most = max(most, shared_with(program.pid) + allocated(kept))
                client.socket.sendall(b"\x03")
                check(client.receive().startswith("T"), "stopped")
                check(client.frames_created() > 0, "frames")
                return most
    finally:
        program.kill()
        program.wait()


def main():
    need_fast_tracepoints()
    for threads, sizes in SIZES.items():
        for size in sizes:
            most = most_taken(threads, size * MIB, "R0fff")
            bound = size * MIB * 5 // 4 + 4 * MIB
            print(f"{threads} threads, {size} MiB: {most / MIB:.1f} MiB of at most "
                  f"{bound / MIB:.1f}", flush=True)
            check(most <= bound, "it is bounded")


main()
