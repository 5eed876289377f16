#!/usr/bin/env python3
"""`target extended-remote` in stock GDB: running, attaching, killing, restarting, with everything a
program is given. Through gdbserver and through `serve`; what GDB shows must not differ."""
# timeout: 240

import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_common import (  # noqa: E402
    AS_GDBSERVER, PROGRAM, alive, check, folder, gdb, need, on_port, same)

SCRIPT = """
shown = []
def show(command):
    shown.append([command, run(command)])
run("target extended-remote %(remote)s")
for command in %(commands)r:
    show(command)
result(shown)
"""

RUNNING = [
    "info inferiors", "set remote exec-file %(program)s", "set args tell 'two words' $HOME *.none",
    "set cwd %(work)s", "set environment TW_SET given", "unset environment TW_KEPT", "break outer",
    "run", "backtrace", "info inferiors", "delete", "continue", "info inferiors",
    "set startup-with-shell off", "set args tell $HOME", "set environment TW_KEPT changed", "run",
    "set disable-randomization off", "break outer", "run", "kill", "info inferiors",
    "set args exit 9", "run", "delete", "continue", "show args", "continue",
]

MONITOR = ["monitor set debug 1", "monitor set debug 0", "monitor set remote-debug 0",
           "monitor set debug-format all", "monitor set debug-format none"]

ATTACHING = [
    "attach %(pid)s", "print watched > 0", "break usleep", "continue", "delete",
    "detach", "info inferiors", "attach %(pid)s", "print handled = 5", "detach",
    "attach %(pid)s", "print handled", "kill", "info inferiors",
]

TWO = [
    "attach %(pid)s", "add-inferior -exec %(program)s", "inferior 2", "break outer",
    "set remote exec-file %(program)s", "set args fork", "run", "info inferiors",
    "print $_inferior_thread_count", "kill inferiors 2", "inferior 1", "print handled", "detach",
]


def without_accidents(text):
    text = re.sub(r"0x[0-9a-f]{5,}", "ADDRESS", text)
    text = re.sub(r"localhost:\d+", "REMOTE", text)
    text = re.sub(r"\b\d{3,}(\.\d+)?\b", "ID", text)
    return re.sub(" {2,}", " ", text)  # columns are as wide as the numbers were


def session(program, commands, **values):
    with folder() as work:
        environment = {**os.environ, "TW_KEPT": "ours", "HOME": "/tmp/home of nobody"}
        with on_port(program=program, options=["--multi"], env=environment) as server:
            values |= {"program": PROGRAM, "work": work}
            filled = [command % values for command in commands]
            shown = gdb(work, SCRIPT % {"remote": server.remote, "commands": filled}, PROGRAM)
            server.wait_for("Listening on port", times=2)
            again = gdb(work, SCRIPT % {"remote": server.remote, "commands": ["info inferiors",
                                                                                 "monitor exit"]})
            status = server.ended()
            said = [line.replace(str(work), "WORK") for line in server.said().splitlines()]
    told = [line for line in said if re.match("argument|directory|TW_|Child", line)]
    shown = [[without_accidents(one.replace(str(work), "WORK")) for one in pair]
             for pair in shown + again]
    # Where an attached program stands is an accident, too.
    for pair in shown:
        if pair[0].startswith("attach ") and "error" not in pair[1]:
            pair[1] = "attached"
    return shown, told, status


def spinning():
    """A program that somebody else started."""
    with folder() as work:
        os.mkfifo(work / "ready")
        running = subprocess.Popen([PROGRAM, "spin", work / "ready"])
        (work / "ready").read_text()
    return running


def compare(name, commands, attach):
    outcomes = []
    for program in (AS_GDBSERVER, ["gdbserver"]):
        other = spinning() if attach else None
        outcome = session(program, commands, pid=other.pid if other else 0)
        if other:
            outcome += (alive(other.pid),)
            other.kill()
            other.wait()
        outcomes.append(outcome)
    ours, theirs = outcomes
    for mine, other in zip(ours[0], theirs[0]):
        same(mine, other, f"{name}: {mine[0]}")
    same(ours[1:], theirs[1:], f"{name}: what it printed, exit status, what became of the other")
    print(f"{name}: {len(ours[0])} commands agree")


need("gdb", "gdbserver")
compare("running", RUNNING, False)
compare("monitor", [], False)
compare("attaching", ATTACHING, True)
compare("two", TWO, True)

compare("settings", MONITOR, False)

# Where gdbserver cannot serve for comparison: it dies when an attach fails after another process
# was let go, and what `monitor` says is ours.
other_ = spinning()
with folder() as folder_, on_port(options=["--multi"]) as server_:
    commands_ = [f"attach {other_.pid}", "detach", "attach 1999999999", f"attach {other_.pid}",
                 "print watched > 0", "detach"]
    shown_ = gdb(folder_, SCRIPT % {"remote": server_.remote, "commands": commands_}, PROGRAM)
    check("failed" in shown_[2][1], f"attaching to nobody: {shown_}")
    same(shown_[4][1], "$1 = 1\n", "attached again")
    check(alive(other_.pid), "the program lives on")
other_.kill()
other_.wait()
with folder() as folder_, on_port(options=["--multi"]) as server_:
    shown_ = gdb(folder_, SCRIPT % {"remote": server_.remote, "commands": ["monitor help"]})
    helped = shown_[0][1]
    check(re.search("The following monitor commands are supported.*Quit GDBserver", helped, re.S),
          f"monitor help: {helped!r}")
