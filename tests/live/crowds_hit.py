#!/usr/bin/env python3
# skips
# timeout: 200
"""Hundreds of threads begin while a trace runs, more than there are rings for, and each of them
hits. Every hit of each thread has its frame and is counted for its tracepoint, and the program
computes what it does alone."""

import collections
import json
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from replay_common import folder  # noqa: E402
from rsp_client import Client, bias, serving, symbols  # noqa: E402
from trace_common import INFERIORS, TRACEWELL, check, need_fast_tracepoints, same  # noqa: E402

PROGRAM = INFERIORS / "hammer"
# (threads, calls of each, MiB). At the start there is one thread, and rings for a few.
CROWDS = ((400, 100, 40), (600, 50, 1))
PLACES = {"site_push": 1, "mix": 2}  # how often its function comes there in each call


def crowd(threads, calls, megabytes):
    what = f"{threads} threads, {megabytes} MiB"
    words = [str(PROGRAM), str(threads), str(calls), "together"]
    alone = subprocess.run(words, capture_output=True, text=True, check=False)
    with folder() as work, serving("--once", "--buffer", str(work / "kept"), "localhost:0",
                                   *words) as (server, port, pid):
        client = Client(port)
        client.ask("QTinit")
        client.ask(f"QTBuffer:size:{megabytes << 20:x}")
        client.ask("QTBuffer:circular:1")
        base = bias(pid, PROGRAM)
        places = [base + symbols(PROGRAM)[name] for name in PLACES]
        for number, place in enumerate(places, 1):
            client.ask(f"QTDP:{number}:{place:x}:E:0:0-")
            client.ask(f"QTDP:-{number}:{place:x}:R0fff")
        same(client.console("QTStart"), "", f"{what}: the start")
        check("a trap" not in client.notes(), client.notes())
        same(client.say("vCont;c"), f"W{alone.returncode:02x}", f"{what}: how it ends")
        status = client.ask("qTStatus", None)
        numbers = {key: int(value, 16) for key, value in
                   re.findall(r"(tframes|tcreated):(\w+)", status)}
        same(numbers["tcreated"], threads * calls * sum(PLACES.values()), f"{what}: frames created")
        check("lost" not in client.notes(), client.notes())
        for number, (place, often) in enumerate(zip(places, PLACES.values()), 1):
            hits = re.match(r"V(\w+):", client.ask(f"qTP:{number}:{place:x}", None))[1]
            same(int(hits, 16), threads * calls * often, f"{what}: hits of tracepoint {number}")
        of_threads = threads_of_frames(work / "kept")
        same(sum(of_threads.values()), numbers["tframes"], f"{what}: frames that are read")
        if numbers["tframes"] == numbers["tcreated"]:
            same(sorted(of_threads.values()), [calls * sum(PLACES.values())] * threads,
                 f"{what}: each thread's frames")
        client.socket.close()
        said = server.said + server.stdout.read()
        check(alone.stdout.strip() in said, f"{what}: it computes {alone.stdout}; {said}")


def threads_of_frames(kept):
    """How many frames each thread has."""
    words = [TRACEWELL, "print", "--format", "jsonl", str(kept)]
    counts = collections.Counter()
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            event = json.loads(line)
            if event.get("kind") == "frame":
                counts[event["tid"]] += 1
    return counts


def main():
    need_fast_tracepoints()
    for one in CROWDS:
        crowd(*one)


main()
