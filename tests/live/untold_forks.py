#!/usr/bin/env python3
"""A fork whose stop waits its turn while another one is told. The debugger does not know the
child: no list has it, and breakpoints that the debugger takes out of the parent are not in the
child either. When it leaves the parent, or kills it, the child is let go as well, and so is a
parent that waits for it in vfork.
"""

import contextlib
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import serve_client  # noqa: E402
from rsp_client import bias, code, status, symbols, wait_until  # noqa: E402
from serve_common import INFERIORS, check, need, same, server  # noqa: E402

FILE = INFERIORS / "forks_and_hits"
SECONDS = 60  # a tenth of all stops or more have such a child, where both threads get to run


def children(pid):
    """Those that are there, zombies left out."""
    lists = pathlib.Path(f"/proc/{pid}/task").glob("*/children")
    found = {int(word) for one in lists for word in one.read_text().split()}
    return {child for child in found if status(child, "State")[:1] not in ("Z", "")}


def listed(debugger):
    answer = debugger.say("qXfer:threads:read::0,4000")
    return {int(word, 16) for word in re.findall(r'id="p([0-9a-f]+)\.', answer)}


def run_to_stop(debugger, pid, place):
    """As GDB does: breakpoints are in while the program runs. The fork that it tells, or 0."""
    same(debugger.say(f"Z0,{place:x},1"), "OK", "a breakpoint")
    debugger.send(f"vCont;c:p{pid:x}.-1")
    told = re.search(r"fork:p([0-9a-f]+)", debugger.receive())
    child = int(told.group(1), 16) if told else 0
    same(listed(debugger), {pid, child} - {0}, "the processes that the debugger knows")
    same(debugger.say(f"z0,{place:x},1"), "OK", "no breakpoint")
    return child


def untold_child(debugger, pid, place):
    """Runs the program until a process is there of which no stop has told."""
    told = set()  # one that was let go may still be on its way to its end
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        child = run_to_stop(debugger, pid, place)
        told.add(child)
        others = children(pid) - told
        if child:
            same(debugger.say(f"D;{child:x}"), "OK", "a child is let go")
        if others:
            return others.pop()
    check(False, f"all children were told of for {SECONDS} s")
    return 0


def is_free(pid):
    return status(pid, "TracerPid") in ("0", "")


@contextlib.contextmanager
def debugged(how):
    """A program, and a debugger of its, each to be ended by the caller."""
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
        yield program, pid, debugger


def leaves(how, packet):
    with debugged(how) as (program, pid, debugger):
        child = untold_child(debugger, pid, bias(pid, FILE) + symbols(FILE)["hit"])
        same(debugger.say(f"{packet};{pid:x}"), "OK", packet)
        wait_until(lambda: is_free(child), f"{packet}: the child of {how} is let go")
        if packet == "D":
            wait_until(lambda: is_free(pid), f"{packet}: the program is let go")
            program.stdin.close()
        same(program.wait(timeout=60), 0 if packet == "D" else -9, "its end")


def breakpoint_goes_from_both(how):
    with debugged(how) as (program, pid, debugger):
        place = bias(pid, FILE) + symbols(FILE)["hit"]
        child = untold_child(debugger, pid, place)
        same(debugger.say(f"Hgp{child:x}.{child:x}"), "E01", "the child is not chosen")
        same(debugger.say(f"Hgp{pid:x}.{pid:x}"), "OK", "Hg")
        before = code(pid, place)
        check(code(child, place) == before, "a breakpoint that was taken out is left in the child")
        same(debugger.say(f"Z0,{place:x},1"), "OK", "a breakpoint")
        check(code(child, place) == code(pid, place), "a breakpoint is not in the child")
        same(debugger.say(f"z0,{place:x},1"), "OK", "no breakpoint")
        check(code(child, place) == before, "a breakpoint is left in the child")
        debugger.say(f"vKill;{pid:x}")
        program.wait(timeout=60)


def main():
    need("nm")
    for how in ("fork", "vfork"):
        print(how, flush=True)
        breakpoint_goes_from_both(how)
        for packet in ("D", "vKill"):
            print(how, packet, flush=True)
            leaves(how, packet)


main()
