#!/usr/bin/env python3
"""Forks and execs in stock GDB, through gdbserver and through `serve`: what GDB shows must not
differ."""
# timeout: 240

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_common import (  # noqa: E402
    AS_GDBSERVER, PROGRAM, folder, gdb, line_of, need, on_port, same)

SCRIPT = """
shown = []
def show(command):
    shown.append([command, run(command)])
run("target extended-remote %(remote)s")
for command in %(commands)r:
    show(command)
result(shown)
"""

SESSIONS = {
    "parent": ("fork", ["break child_work", "break %(parent)d", "continue", "next", "delete",
                        "continue"]),
    "child": ("fork", ["set follow-fork-mode child", "break child_work", "continue", "backtrace",
                       "info inferiors", "continue"]),
    "both": ("fork", ["set detach-on-fork off", "break child_work", "catch fork", "continue",
                      "next", "info inferiors", "inferior 2", "delete", "break child_work",
                      "continue", "print value", "delete", "continue", "inferior 1", "continue"]),
    "both at once": ("fork", ["set detach-on-fork off", "set schedule-multiple on",
                              "break child_work", "continue", "info threads 2.1", "delete",
                              "continue", "info inferiors"]),
    "exec": ("exec", ["catch exec", "continue", "backtrace 1", "break outer", "continue",
                      "backtrace", "delete", "continue"]),
    "exec unseen": ("exec", ["break outer", "continue", "continue", "delete", "continue"]),
    "vfork": ("vfork", ["catch vfork", "continue", "delete", "continue"]),
    "vfork child": ("vfork", ["set follow-fork-mode child", "catch exec", "continue", "delete",
                              "break outer", "continue", "delete", "continue"]),
    "vfork both": ("vfork", ["set detach-on-fork off", "catch vfork", "continue", "next",
                             "info inferiors", "detach inferior 2", "continue"]),
}


def without_accidents(text):
    """The same whatever the processes' and threads' numbers are."""
    text = re.sub(r"\[New Thread .*\n", "", text)
    text = re.sub(r"localhost:\d+", "REMOTE", text)
    text = re.sub(r"\b\d{3,}(\.\d+)?\b", "ID", text)
    return re.sub(" {2,}", " ", text)  # columns are as wide as the numbers were


def session(program, argument, commands):
    filled = [command % {"parent": line_of("parent")} for command in commands]
    with folder() as work, on_port(PROGRAM, argument, program=program) as server:
        shown = gdb(work, SCRIPT % {"remote": server.remote, "commands": filled}, PROGRAM)
    return [[command, without_accidents(text)] for command, text in shown]


need("gdb", "gdbserver")
for name, (argument, commands) in SESSIONS.items():
    if sys.argv[1:] and name not in sys.argv[1:]:
        continue
    ours = session(AS_GDBSERVER, argument, commands)
    theirs = session(["gdbserver"], argument, commands)
    for mine, other in zip(ours, theirs):
        same(mine, other, f"{name}: {mine[0]}")
    print(f"{name}: {len(ours)} commands agree")
