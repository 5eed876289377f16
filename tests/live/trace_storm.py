#!/usr/bin/env python3
"""Four threads hit several tracepoints at once, some of them stepping: nothing is lost, nothing is
made up, and the program computes what it should."""
# timeout: 120

import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from trace_common import (  # noqa: E402
    INFERIORS, check, folder, gdb, line_of, need, records, same, serve)

PROGRAM = INFERIORS / "hit_storm"
SOURCE = "hit_storm.c"
ROUNDS = 500

DEFINITIONS = """
tvariable $sum
trace inner
actions
collect n
teval $sum = $sum + 1
end
trace %(outer)d
actions
collect $regs, n
end
trace %(after)d if n %% 10 == 3
actions
collect result
while-stepping 3
collect shared
end
end
trace %(outer)d
break _exit
"""

SCRIPT = """
run("target remote %(remote)s")
run("set trace-buffer-size 60000000")
said = [run("source %(definitions)s"), run("tstart"), run("continue"), run("tstop")]
result({"said": said, "status": run("tstatus"), "points": run("info tracepoints"),
        "sum": run("output $sum"), "saved": run("tsave %(file)s"),
        "end": run("continue"), "code": run("output $_exitcode")})
"""

def check_frames(frames):
    hits = 4 * ROUNDS
    counts = {}
    rounds = {}  # of each thread, by the only thing in a frame that tells threads apart
    for frame in frames:
        counts[frame["tracepoint"]] = counts.get(frame["tracepoint"], 0) + 1
        if frame["tracepoint"] == 2:
            (block,) = frame["memory"]
            n = int.from_bytes(bytes.fromhex(block["bytes"]), "little")
            rounds.setdefault(frame["registers"]["fs_base"], []).append(n)
            same(frame["registers"]["rip"], frame["pc"], "pc")
    same(counts, {1: hits, 2: hits, 3: 4 * hits // 10, 4: hits}, "frames of each tracepoint")
    same([sorted(rounds.values())], [[list(range(ROUNDS))] * 4], "n in each round of each thread")


def storm():
    hits = 4 * ROUNDS
    with folder() as work:
        definitions, saved = work / "definitions", work / "storm.tf"
        definitions.write_text(
            DEFINITIONS % {mark: line_of(SOURCE, mark) for mark in ("outer", "after")})
        with serve("--once", PROGRAM) as remote:
            got = gdb(work, SCRIPT % {"remote": remote, "definitions": definitions, "file": saved},
                      PROGRAM)
        found = re.findall(r"tracepoint already hit (\d+) time", got["points"])
        same(found, [str(hits), str(hits), str(hits // 10), str(hits)], got["points"])
        same(got["sum"], str(hits), "$sum")
        frames = 3 * hits + 4 * hits // 10
        check(f"Collected {frames} trace frames" in got["status"], got["status"])
        same(got["code"], "0", "the program's own result " + got["end"])
        check_frames(records(saved))


def main():
    need("gdb")
    for fast in ("none", "all"):
        os.environ["TRACEWELL_FAST"] = fast
        storm()


main()
