#!/usr/bin/env python3
# skips
"""Where fast tracepoints put their memory into a program is not known beforehand: each server
chooses other addresses, also in programs whose own addresses are always the same."""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client  # noqa: E402
from serve_common import TRACEWELL, check, server  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

ROUNDS = 6


def mappings(pid):
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {int(line.split("-")[0], 16) for line in lines}


def places():
    """What is mapped into a program for its trace, in the order of addresses."""
    words = ["setarch", "--addr-no-randomize", str(INFERIORS / "much_code"), "empty", "1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as program:
        try:
            place = int(program.stdout.readline(), 16)
            before = mappings(program.pid)
            with server("--once", "--attach", "localhost:0", str(program.pid),
                        program=TRACEWELL) as running:
                port = int(running.wait_for(r"Listening on port (\d+)").group(1))
                client = Client(port)
                client.trace([place])
                with open(f"/proc/{program.pid}/mem", "rb") as memory:
                    memory.seek(place)
                    check(memory.read(1) != b"\xcc", "the tracepoint is fast")
                return place, sorted(mappings(program.pid) - before)
        finally:
            program.kill()


def main():
    need_fast_tracepoints()
    runs = [places() for _ in range(ROUNDS)]
    check(len({place for place, _ in runs}) == 1, "the program is always in the same place")
    check(all(len(ours) >= 2 for _, ours in runs), f"something was mapped: {runs}")
    # Memory of 2 GB beside others: one of so many places may be the same once.
    common = set.intersection(*(set(ours) for _, ours in runs))
    check(not common, f"the same in all of {ROUNDS} runs: {[hex(one) for one in common]}")


main()
