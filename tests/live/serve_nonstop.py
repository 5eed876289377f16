#!/usr/bin/env python3
"""Non-stop mode in stock GDB (by MI), through gdbserver and through `serve`: one thread stops and
the others run; what GDB tells must not differ."""
# timeout: 240

import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from gdb_mi import Gdb  # noqa: E402
from serve_common import (  # noqa: E402
    AS_GDBSERVER, PROGRAM, alive, check, need, on_port, same)
from trace_common import hardware_breakpoint  # noqa: E402

TURNS = str(pathlib.Path(os.environ["TRACEWELL_INFERIORS"]) / "turns")
NON_STOP = "set non-stop on"


def begin(server, mode=NON_STOP, to="main_work"):
    gdb = Gdb(mode, program=TURNS)
    gdb.do(f"-target-select remote {server.remote}")
    gdb.stops(1)
    gdb.do(f"-break-insert {to}")
    gdb.do("-exec-continue --all")
    return gdb


def one_stops(gdb):
    """The others run, memory is read meanwhile, one is interrupted, all go on."""
    shown = [gdb.stops(1)]
    gdb.do("-break-insert -t second_work")
    shown.append(gdb.stops(1))
    shown.append(gdb.states())
    shown.append(gdb.moves(1))
    gdb.do("-break-delete 1")
    for command in ("-exec-step", "-exec-finish", "-exec-next"):
        shown.append(gdb.do(command + " --thread 3"))
        shown.append(gdb.stops(1))
    shown.append(gdb.do("-exec-interrupt --thread 2"))
    shown.append(gdb.stops(1))
    shown.append(gdb.states())
    shown.append(gdb.do("-exec-continue --thread 3"))
    shown.append(gdb.moves(2))
    shown.append(gdb.states())
    shown.append(gdb.do("-data-list-register-values --thread 3 x 0"))
    shown.append(gdb.do("-exec-continue --all"))
    shown.append([gdb.moves(0), gdb.moves(1), gdb.moves(2)])
    shown.append(gdb.do("-exec-interrupt --all"))
    shown.append(gdb.stops(3))
    gdb.do("-gdb-set var quit=1")
    gdb.do("-exec-continue --all")
    shown.append(gdb.stops(1))
    return shown


def everyone_at_a_breakpoint(gdb):
    """All three at once, with a condition; breakpoints come and go while threads run."""
    gdb.stops(1)
    gdb.do("-break-delete 1")
    gdb.do("-exec-continue --all")
    gdb.do("-break-insert turn")
    shown = [gdb.stops(3), gdb.states()]
    gdb.do("-break-delete 2")
    gdb.do("-break-insert -c who==1 turn")
    shown.append(gdb.do("-exec-continue --all"))
    shown.append(gdb.stops(1))
    shown.append([gdb.moves(0), gdb.moves(2)])
    gdb.do("-break-delete 3")
    if hardware_breakpoint() == "hbreak":
        shown.append(gdb.do("-break-watch --thread 2 turns[2]"))
        shown.append(gdb.stops(1)[0][:2])
    return shown


def all_stop_over_non_stop(gdb):
    """The debugger stops the threads itself, one by one."""
    shown = [gdb.stops(1), gdb.states()]
    for command in ("-exec-step", "-exec-finish"):
        gdb.do(command)
        shown.append(gdb.stops(1))
    gdb.do("-break-delete 1")
    gdb.do("-break-insert -t turn")
    gdb.do("-exec-continue")
    shown.append([stop[1:] for stop in gdb.stops(1)])
    return shown


def follow(gdb, *settings):
    """From a program that stands at its first instruction, on into child_work()."""
    for setting in settings:
        gdb.do(setting)
    gdb.do("-break-insert child_work")
    return gdb.do("-exec-continue --all")


def forks_into_both(gdb):
    """Child and parent are debugged at once: the child stands still, the parent runs on."""
    shown = [follow(gdb, "set detach-on-fork off")]
    gdb.await_line(0, r'=thread-created,.*group-id="i2"')
    shown += [gdb.do("-exec-continue --thread-group i2"), gdb.stops(1), gdb.states(),
              gdb.do("-data-evaluate-expression --thread 2 value")]
    shown.append(gdb.do("-exec-finish --thread 2"))
    shown += [gdb.stops(1), gdb.do("-exec-continue --thread-group i2"), gdb.stops(2)]
    return shown


def forks_into_the_child(gdb):
    shown = [follow(gdb, "set follow-fork-mode child"), gdb.stops(1)]
    shown.append(gdb.do("-data-evaluate-expression value"))
    shown += [gdb.do("-exec-continue --all"), gdb.stops(1)]
    return shown


def forks_unseen(gdb):
    """The child is let go, and has none of the breakpoints."""
    return [follow(gdb), gdb.stops(1)]


def executes(gdb):
    shown = [gdb.do("catch exec"), gdb.do("-exec-continue --all"), gdb.stops(1), gdb.states()]
    shown += [gdb.do("-break-insert -t inner") != "", gdb.do("-exec-continue --all"), gdb.stops(1)]
    shown += [gdb.value("value"), gdb.do("-exec-continue --all"), gdb.stops(1)]
    return shown


def families():
    for name, argument, conversation, last in (
            ("forks into both", "fork", forks_into_both, "exited 017"),
            ("forks into the child", "fork", forks_into_the_child, "exited 05"),
            ("forks unseen", "fork", forks_unseen, "exited 017"),
            ("executes", "exec", executes, "exited 04")):
        shown = []
        for program in (AS_GDBSERVER, ["gdbserver"]):
            with on_port(PROGRAM, argument, program=program) as server:
                gdb = Gdb(NON_STOP, program=PROGRAM)
                gdb.do(f"-target-select extended-remote {server.remote}")
                gdb.stops(1)
                shown.append(conversation(gdb))
                gdb.quit()
        for mine, other in zip(*shown, strict=True):
            same(mine, other, name)
        check(last in [why for _, why, _ in shown[0][-1]], f"{name}: {shown[0][-1]}")
        print(f"{name}: {len(shown[0])} answers agree")


def with_both(name, conversation, mode=NON_STOP):
    shown = []
    for program in (AS_GDBSERVER, ["gdbserver"]):
        with on_port(TURNS, program=program) as server:
            gdb = begin(server, mode)
            shown.append(conversation(gdb))
            gdb.quit()
    for mine, other in zip(*shown):
        same(mine, other, name)
    print(f"{name}: {len(shown[0])} answers agree")


def detaching():
    """While its threads run, and while some stand still: it runs on."""
    with subprocess.Popen([TURNS]) as program:
        try:
            while len(os.listdir(f"/proc/{program.pid}/task")) < 3:
                time.sleep(0.01)
            with on_port("--attach", str(program.pid), program=AS_GDBSERVER) as server:
                gdb = Gdb(NON_STOP, program=TURNS)
                gdb.do(f"-target-select remote {server.remote}")
                same(len(gdb.states()), 3, "threads")
                gdb.do("-exec-continue --all")
                gdb.do("-break-insert -t first_work")
                number = gdb.await_line(0, r'\*stopped.*first_work')
                check(number, "the breakpoint was not told of")
                check("done" in gdb.do("-target-detach"), "detach while threads run")
                server.ended()
                gdb.quit()
            check(program.poll() is None, "it runs on")
        finally:
            program.kill()
    print("detaching: the program runs on")


def reconnecting():
    """The connection is gone while two threads run and one stands still: so it stays."""
    with on_port(TURNS, program=AS_GDBSERVER, options=()) as server:
        gdb = begin(server, to="first_work")
        gdb.stops(1)
        pid = int(re.search(r"pid = (\d+)", server.said()).group(1))
        gdb.process.kill()
        gdb.process.wait()
        server.wait_for("will reopen the connection")
        gdb = Gdb(NON_STOP, program=TURNS)
        gdb.do(f"-target-select remote {server.remote}")
        states = sorted(state for _, state in gdb.states())
        same(states, ["running", "running", "stopped"], "after coming back")
        check(gdb.moves(0) and gdb.moves(2), "two threads run")
        gdb.process.kill()
        gdb.process.wait()
        server.wait_for("will reopen the connection", times=2)
        gdb = Gdb("set non-stop off", program=TURNS)
        gdb.do(f"-target-select remote {server.remote}")
        states = sorted(state for _, state in gdb.states())
        same(states, ["stopped"] * 3, "after coming back in all-stop mode")
        gdb.do("-gdb-set var quit=1")
        gdb.stops(1)
        gdb.do("-exec-continue")
        same(gdb.stops(1)[0][1], "exited 03", "the end")
        gdb.quit()
        check(not alive(pid), "the program has ended")
    print("reconnecting: threads are as they were")


def tracing():
    """Tracepoints start, are hit and stop while all threads run; frames are looked at meanwhile."""
    with on_port(TURNS, program=AS_GDBSERVER) as server:
        gdb = begin(server)
        gdb.stops(1)
        gdb.do("-break-delete 1")
        gdb.do("-exec-continue --all")
        gdb.moves(1)
        check("done" in gdb.do("-break-insert -a turn"), "a tracepoint")
        gdb.do('-break-commands 2 "collect $args" "collect turns"')
        check("done" in gdb.do("-trace-start"), "tstart while threads run")
        while True:
            frames = int(re.search(r'frames="(\d+)"', gdb.do("-trace-status")).group(1))
            if frames > 30:
                break
        check("done" in gdb.do("-trace-stop"), "tstop while threads run")
        check([gdb.moves(0), gdb.moves(1), gdb.moves(2)] == [True] * 3, "all of them run")
        got = gdb.do("-trace-find frame-number 3")
        check('found="1"' in got and 'func="turn"' in got, got)
        check(gdb.value("who") in "012", "what the frame shows")
        gdb.do("-trace-find none")
        gdb.quit()
    print("tracing: while threads run")


need("gdb", "gdbserver")
with_both("one stops", one_stops)
with_both("everyone at a breakpoint", everyone_at_a_breakpoint)
with_both("all-stop over non-stop", all_stop_over_non_stop, "maint set target-non-stop on")
families()
detaching()
reconnecting()
tracing()
