#!/usr/bin/env python3
# skips
"""Somebody sets the machine's clock back by an hour while a program is traced. The times of frames
go on, of pads as of traps. The next run goes by the clock as it is then."""

import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import fast  # noqa: E402
from replay_common import folder  # noqa: E402
from rsp_client import Client, wait_until  # noqa: E402
from serve_common import server  # noqa: E402
from trace_common import INFERIORS, TRACEWELL, check, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "ticks"
FRAMES = 50
PAUSES = ("pause", "100")  # us: the buffer is not full before somebody has stopped the program
MINUTE, HOUR = 60 * 10**9, 3600 * 10**9


def times(kept):
    """Nanoseconds of all frames, in their order."""
    text = subprocess.run([TRACEWELL, "print", "--format", "jsonl", str(kept)],
                          capture_output=True, text=True, check=True).stdout
    events = [json.loads(line) for line in text.splitlines()]
    return [one["time_ns"] for one in events if one.get("kind") == "frame"]


def begin(client, tick):
    client.ask("QTinit")
    client.ask("QTBuffer:circular:0")
    client.ask(f"QTDP:1:{tick:x}:E:0:0-")
    client.ask(f"QTDP:-1:{tick:x}:M-1,{tick:x},8")
    client.console("QTStart")


def hits(client, frames):
    client.send("vCont;c")
    wait_until(lambda: client.stands_after(frames), "frames")


def traced(way, work, pid, tick):
    stepped, kept = work / "stepped", work / "kept"
    environment = {**os.environ, "LD_PRELOAD": str(INFERIORS / "steps_clock"),
                   "STEPPED_CLOCK": str(stepped)}
    with server(*fast(way), "--buffer", kept, "--attach", "localhost:0", pid,
                env=environment) as running:
        client = Client(int(running.wait_for(r"Listening on port (\d+)").group(1)))
        begin(client, tick)
        check(("a trap" if way == "none" else "a pad") in client.notes(), client.notes())
        hits(client, FRAMES)
        before = client.frames_created()
        stepped.touch()
        hits(client, before + FRAMES)
        client.ask("QTStop")
        first = times(kept)
        check(len(first) >= before + FRAMES, f"{way}: {len(first)} frames")
        check(first == sorted(first), f"{way}: times go on")
        check(first[-1] - first[0] < MINUTE, f"{way}: {first[0]} to {first[-1]} ns")
        begin(client, tick)
        hits(client, FRAMES)
        client.ask("QTStop")
        again = times(kept)
        check(MINUTE < first[0] - again[0] < HOUR, f"{way}: the next run begins at {again[0]}, the "
              f"first one at {first[0]} ns")
        client.ask("D")


def main():
    need_fast_tracepoints()
    for way in ("all", "none"):
        with folder() as work, subprocess.Popen([PROGRAM, *PAUSES], stdout=subprocess.PIPE,
                                                text=True) as program:
            try:
                traced(way, work, program.pid, int(program.stdout.readline(), 16))
            finally:
                program.kill()


main()
