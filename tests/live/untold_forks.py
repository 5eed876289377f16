#!/usr/bin/env python3
"""A debugger leaves a program, or kills it, while a stop that would tell of a fork waits its turn:
the child is let go as well, and so is a parent that waits for it in vfork."""

import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import serve_client  # noqa: E402
from rsp_client import bias, status, symbols, wait_until  # noqa: E402
from serve_common import INFERIORS, check, need, same, server  # noqa: E402

FILE = INFERIORS / "forks_and_hits"
STOPS = 2000  # a tenth of them or more has such a child


def untold_child(debugger, pid, place):
    """Runs the program until a process is there of which no stop has told."""
    for _ in range(STOPS):
        same(debugger.say(f"Z0,{place:x},1"), "OK", "a breakpoint")
        debugger.send(f"vCont;c:p{pid:x}.-1")
        stop = debugger.receive()
        listed = debugger.say("qXfer:threads:read::0,4000")
        others = {int(word, 16) for word in re.findall(r'id="p([0-9a-f]+)\.', listed)} - {pid}
        same(debugger.say(f"z0,{place:x},1"), "OK", "no breakpoint")
        told = re.search(r"fork:p([0-9a-f]+)", stop)
        if told:
            same(debugger.say(f"D;{told.group(1)}"), "OK", "a child is let go")
            others.discard(int(told.group(1), 16))
        if others:
            return others.pop()
    check(False, f"all children were told of at {STOPS} stops")
    return 0


def is_free(pid):
    return status(pid, "TracerPid") in ("0", "")


def leaves(how, packet):
    program = subprocess.Popen([FILE, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    pid = int(program.stdout.readline())
    with server("--multi", "--fast-tracepoints", "none", "localhost:0") as running:
        port = running.wait_for(r"Listening on port (\d+)").group(1)
        debugger = serve_client.Client(f"localhost:{port}")
        debugger.say("qSupported:multiprocess+;fork-events+;vfork-events+;vContSupported+")
        debugger.say("!")
        check(debugger.say(f"vAttach;{pid:x}").startswith("T"), "attach")
        same(debugger.say(f"Hgp{pid:x}.{pid:x}"), "OK", "Hg")
        child = untold_child(debugger, pid, bias(pid, FILE) + symbols(FILE)["hit"])
        same(debugger.say(f"{packet};{pid:x}"), "OK", packet)
        wait_until(lambda: is_free(child), f"{packet}: the child of {how} is let go")
        if packet == "D":
            wait_until(lambda: is_free(pid), f"{packet}: the program is let go")
            program.stdin.close()
        same(program.wait(timeout=60), 0 if packet == "D" else -9, "its end")


def main():
    need("nm")
    for how in ("fork", "vfork"):
        for packet in ("D", "vKill"):
            print(how, packet, flush=True)
            leaves(how, packet)


main()
