#!/usr/bin/env python3
# timeout: 300
"""Stock GDB in non-stop mode comes to a program with one thread that `serve --attach-running` has
attached to. The program runs on while GDB reads symbols: here GDB reads on only when it has."""

import contextlib
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from gdb_mi import Gdb  # noqa: E402
from lone_program import PROGRAM, Lone  # noqa: E402
from parts import chosen  # noqa: E402
from replay_common import folder  # noqa: E402
from rsp_client import wait_until  # noqa: E402
from serve_common import TRACEWELL, Server  # noqa: E402
from trace_common import check, same  # noqa: E402

TRIES = 50

# In GDB: what is to be seen and done while it believes the thread to stand still. 20 seconds are
# for a program that does stand still.
HOOK = """
import gdb, json, struct, time
out = open({out!r}, "a", buffering=1)
def word():
    with open("/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek({turns})
        return struct.unpack("<Q", memory.read(8))[0]
def run(command):
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error as error:
        return "error: " + str(error)
def tell(**what):
    out.write(json.dumps(what) + chr(10))
seconds = 20
def on_objfile(event):
    global seconds
    thread = gdb.selected_thread()
    if thread is None:
        return
    begin, end = word(), time.monotonic() + seconds
    while word() < begin + 2 and time.monotonic() < end:
        time.sleep(0.001)
    if word() < begin + 2:
        seconds = 0
    if event.new_objfile.filename.endswith("/libc.so.6"):
        run({command!r})
    tell(read=event.new_objfile.filename, moved=word() >= begin + 2, trace=run("bt"),
         write=run({write!r}))
gdb.events.new_objfile.connect(on_objfile)
"""


@contextlib.contextmanager
def debugged(work, command="show version", write="show version", wanted=0):
    """(the program, GDB as it connects, what the hook tells)"""
    lone = Lone()
    lone.want(wanted)
    server = Server([*TRACEWELL, "--attach-running", "--once", "localhost:0", str(lone.pid)])
    out, hook = work / "told", work / "hook.py"
    out.unlink(missing_ok=True)
    hook.write_text(HOOK.format(out=str(out), pid=lone.pid, command=command, write=write,
                                turns=lone.address("turns")))
    gdb = Gdb("set non-stop on", "set sysroot /", "set width 0", f"source {hook}",
              program=PROGRAM)
    try:
        port = server.wait_for(r"Listening on port (\d+)").group(1)
        said = gdb.do(f"-target-select remote localhost:{port}")
        check(said.startswith("^connected"), f"GDB: {said}")
        yield lone, gdb, lambda: [json.loads(line) for line in out.read_text().splitlines()]
    finally:
        gdb.quit()
        same(server.ended(), 0, server.said())
        lone.runs("let go")
        same(lone.word("wrong"), 0, "sums of turns")
        lone.program.kill()
        lone.program.wait()


def goes_on(gdb, told):
    """What was told while symbols were read. The command's turn comes when GDB is through."""
    wait_until(lambda: any("libc" in one["read"] for one in told()), "libc's symbols")
    gdb.do("-gdb-version")
    return told()


def calls(trace):
    """(turn, depth) of each frame of down() whose arguments are in memory."""
    frames = re.findall(r"^#(\d+) .*?\bdown \(turn=(\d+), depth=(\d+)\)", trace, re.MULTILINE)
    return [(int(turn), int(depth)) for number, turn, depth in frames if number != "0"]


def runs_while_symbols_are_read(work):
    """The frames of one moment are of one turn; it is tried until there are some."""
    for _ in range(TRIES):
        with debugged(work, write="set var $rax = 1") as (lone, gdb, told):
            read = goes_on(gdb, told)
            for one in read:
                check(one["moved"], f"the program runs while GDB reads {one['read']}")
                check("runs on" in one["write"], f"a register is written: {one['write']}")
                check(re.search(r"\bmain \(", one["trace"]), one["trace"])
                same(one["trace"], read[0]["trace"], "the stack of one moment")
            lone.runs("let go on")
            frames = calls(read[0]["trace"])
            first = frames[0] if frames else None
            same(frames, [(first[0], first[1] + at) for at in range(len(frames))], "frames")
        if len(frames) >= 3:
            print(f"frames of one turn: {frames}", flush=True)
            return
    check(False, f"no stack with three calls in {TRIES} tries")


def breakpoints_are_met(work):
    """One that was made while the thread was believed to stand still."""
    with debugged(work, "break down if depth == 5") as (lone, gdb, told):
        goes_on(gdb, told)
        if any("delete it" in line for line in gdb.lines):  # it was just there
            gdb.do("-break-delete")
            gdb.do("-exec-continue")
            gdb.do('-break-insert -c "depth == 5" down')
        stops = gdb.stops(1)
        same(stops, [("1", "breakpoint-hit", "down")], "the breakpoint")
        same(gdb.value("depth"), "5", "its condition")
        gdb.do("-break-delete")
        gdb.do("-exec-finish")
        same(gdb.stops(1)[0][1], "function-finished", "its return")
        same(gdb.value("depth"), "6", "its caller's")
        gdb.do("-exec-continue")
        lone.runs("let go on")


def one_at_a_breakpoint_runs_on(work):
    """GDB lets a thread that it believes to be at a breakpoint run one instruction elsewhere first,
    and cannot with one that runs on. It says what to do, and that helps."""
    with debugged(work, "break *counting", wanted=4) as (lone, gdb, told):
        goes_on(gdb, told)
        for _ in range(3):  # it may stand at the breakpoint by now, untold: what is written is not
            gdb.do("-exec-continue")
            same(lone.word("wrong"), 0, "it is refused")
        check(any("delete it, continue, and set it again" in line for line in gdb.lines), "says so")
        gdb.do("-break-delete")
        check(gdb.do("-exec-continue").startswith("^running"), "it goes on")
        lone.runs("let go on")
        gdb.do("-break-insert *counting")
        for _ in range(3):
            same(gdb.stops(1), [("1", "breakpoint-hit", "count_down")], "the breakpoint")
            same(gdb.value("(long)$pc"), str(lone.address("counting")), "where")
            gdb.do("-exec-continue")
        lone.want(0)
        gdb.stops(1)
        gdb.do("-break-delete")
        gdb.do("-exec-continue")
        lone.runs("let go on")


def interrupted_is_stopped(work):
    """By a user who does not wait: GDB does not let it go on then, and all can be done with it."""
    with debugged(work) as (lone, gdb, told):
        gdb.do("-exec-interrupt")
        goes_on(gdb, told)
        lone.stands("interrupted")
        wait_until(lambda: gdb.states() == [("1", "stopped")], "GDB knows")
        same(gdb.value("turns"), str(lone.word("turns")), "a variable")
        check(gdb.do("-gdb-set var word = 7").startswith("^done"), "memory")
        same(lone.word("word"), 7, "what was written")
        check(gdb.do("-exec-step-instruction").startswith("^running"), "a step")
        wait_until(lambda: gdb.states() == [("1", "stopped")], "GDB knows of the step")
        value = gdb.value("$rip")
        check(gdb.do("-gdb-set var $rip = $rip").startswith("^done"), "a register")
        same(gdb.value("$rip"), value, "the register")
        gdb.do("-exec-continue")
        lone.runs("let go on")


def main():
    with folder() as work:
        for part in chosen((runs_while_symbols_are_read, breakpoints_are_met,
                            one_at_a_breakpoint_runs_on, interrupted_is_stopped)):
            part(work)


main()
