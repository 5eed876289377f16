#!/usr/bin/env python3
"""Frames of children that have the traced program's memory are not said to be the program's."""

import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, symbols  # noqa: E402
from trace_common import (  # noqa: E402
    INFERIORS, TRACEWELL, check, folder, has_fast_tracepoints, same)

PROGRAM = INFERIORS / "hits_beside"


def read(*words):
    return subprocess.run([TRACEWELL, *map(str, words)], capture_output=True, text=True,
                          check=True).stdout


def whose(how, work):
    """(processes that the file names, frames' numbers of them, arguments that were collected)"""
    buffer = work / f"{how}.twb"
    with serving("--once", "--buffer", buffer, "localhost:0", PROGRAM, how) as (_, port, pid):
        client = Client(port)
        place = bias(pid, PROGRAM) + symbols(PROGRAM)["place"]
        client.ask("QPassSignals:14")  # SIGCHLD
        client.ask("QTinit")
        client.ask(f"QTDP:1:{place:x}:E:0:0-")
        client.ask(f"QTDP:-1:{place:x}:R1ffff")
        client.ask("QTStart")
        client.send("vCont;c")
        same(client.receive(), "W00", "its end")
    lines = [json.loads(line) for line in read("print", "--format", "jsonl", buffer).splitlines()
             if line.startswith("{")]
    frames = [one for one in lines if one.get("kind") == "frame"]
    return (len(lines[0]["catalog"].get("processes", [])), {one.get("process") for one in frames},
            [int(one["registers"]["rdi"], 16) for one in frames])


def main():
    ways = ["all", "none"] if has_fast_tracepoints() else ["none"]
    for way in ways:
        os.environ["TRACEWELL_FAST"] = way
        with folder() as work:
            # A fork has memory of its own, and no tracepoints.
            same(whose("fork", work), (1, {1}, [4]), f"{way}: fork")
            for how in ("vfork", "clone"):
                named, processes, calls = whose(how, work)
                check(4 in calls, f"{way}: {how}: its own call: {calls}")
                if len(calls) > 1:
                    same((named, processes), (0, {None}), f"{way}: {how}: {calls}")


main()
