#!/usr/bin/env python3
"""Forks of a program that lets nobody look into its memory (PR_SET_DUMPABLE), where who traces it
may not do so either. They are let go without traps, or followed, and stay what they are."""

import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_common import (  # noqa: E402
    INFERIORS, TRACEWELL, check, folder, need, on_port, same, shown_by_gdb)

PROGRAM = str(INFERIORS / "guards_itself")
NO_RIGHTS = ["setpriv", "--bounding-set", "-sys_ptrace,-sys_admin"] if os.getuid() == 0 else []
CHILDREN = "child exits with 9\n" * 3


def session(commands, *arguments):
    """What GDB shows for each command, and what the server and the program print."""
    with folder() as work, on_port(PROGRAM, *arguments,
                                   program=[*NO_RIGHTS, *TRACEWELL]) as server:
        shown = shown_by_gdb(work, server.remote, commands, PROGRAM)
        server.ended()
        return shown, server.said()


def main():
    need("gdb", "setpriv")
    # Nothing of ours is in them.
    for arguments in ((), ("filtered",)):
        shown, said = session(["continue", "print $_exitcode"], *arguments)
        same(shown[-1], "$1 = 0\n", f"{arguments}: {shown}")
        check(CHILDREN in said, f"{arguments}: {said}")
    # Traps, a jump of a fast tracepoint or a breakpoint in what they have copies of.
    for kind in ("trace *point", "ftrace *point", "break *point if points == 1000"):
        shown, said = session([kind, "break done", "tstart", "continue", "tstatus",
                               "info symbol $pc", "delete", "continue"])
        check("done" in shown[5], f"{kind}: {shown}")
        check(CHILDREN in said, f"{kind}: {said}")
        if "trace" in kind:
            check("Collected 10 trace frames" in shown[4], f"{kind}: {shown[4]}")
    # Where no call of theirs is made for us, that is told; the parent goes on.
    shown, said = session(["break *point if points == 1000", "continue", "print $_exitcode"],
                          "filtered")
    same(shown[-1], "$1 = 0\n", f"a filtered one's fork: {shown}")
    check("is let go with the traps" in said and "seccomp" in said, f"it is told: {said}")
    same(said.count("child is killed by 5"), 3, f"children with traps: {said}")
    # One that the debugger wants.
    shown, said = session(["set follow-fork-mode child", "break *point if points == 12",
                           "continue", "info symbol $pc", "print points", "delete",
                           "continue", "print $_exitcode"])
    check("point" in shown[3], f"a fork stops: {shown}")
    same(shown[4], "$1 = 12\n", "its memory")
    same(shown[-1], "$2 = 9\n", f"a fork ends: {shown}")


main()
