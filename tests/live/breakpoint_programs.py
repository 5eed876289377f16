#!/usr/bin/env python3
"""Conditions and commands of breakpoints, run by the server: stock GDB must show the same through
gdbserver and through `serve`, and the servers must print the same."""
# timeout: 240

import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import serve_common  # noqa: E402
from serve_common import AS_GDBSERVER, alive, check, folder, gdb, need, on_port, same  # noqa: E402
from trace_common import hardware_breakpoint  # noqa: E402

PROGRAM = serve_common.INFERIORS / "daily"
SOURCE = serve_common.SOURCE_FOLDER / "tests/inferiors/daily.c"

START = """
shown = []
def show(command):
    shown.append([command, run(command)])
run("target remote %(remote)s")
run("set dprintf-style agent")
"""
END = """
result(shown)
"""

CONDITIONS = """
for command in ("break work if i == 13", "info breakpoints", "continue", "print i",
                "condition 1 i == 15 && point.x == 3", "continue", "print i", "tbreak %(third)d",
                "continue", "condition 1", "continue", "print i", "break %(second)d if i > 17",
                "break %(second)d if i == 17", "condition 1 i == 100", "continue", "print i",
                "%(hbreak)s %(sixth)d if i == 18", "continue", "continue", "print i",
                "break %(looped)d if *(int *) 0 == 1", "continue", "delete", "continue"):
    show(command)
"""

COMMANDS = r'''
for command in ('dprintf %(work)d,"i=%%d name=%%s|%%10s|%%-10s|%%.2s|\\n", '
                'i, name, name, name, name',
                'dprintf %(second)d,"%%c %%d %%hd %%ld %%lld %%x %%#X %%o %%u\\n", '
                'letter, byte, small, wide, wider, i, i, i, small',
                'dprintf %(third)d,"%%5d|%%-5d|%%05d|%%+d|%%.3d %%s 100%%%% \\"q\\" \\t\\n", '
                'i, i, i, i, i, nothing',
                'dprintf %(fourth)d,"only %%d\\n", i', 'condition 4 i >= 10', 'break %(looped)d',
                'tbreak %(sixth)d if i == 12', 'info breakpoints',
                'continue', 'print i', 'disable 1', 'continue', 'print total', 'continue'):
    show(command)
'''

# Each hit of each thread prints, and nothing is lost or counted twice, signals or not.
THREADS = r'''
for command in ('handle SIGUSR1 nostop noprint pass', 'dprintf work,"hit %%d\\n", i',
                'break %(second)d if i == -1', 'break %(joined)d', 'continue', 'print total',
                'print handled', 'continue'):
    show(command)
'''

# Breakpoints are in place when the debugger is killed. (GDB 13 takes them out when it leaves.)
PERSISTING = r"""
run("target extended-remote %(remote)s")
for setting in ("breakpoint always-inserted on", "dprintf-style agent",
                "disconnected-dprintf %(persist)s"):
    run("set " + setting)
run("break main")
run("continue")
said = run('dprintf turn,"beat %%d\\n", watched')
run("delete 1")
result(said)
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
"""


def persisting():
    """`set disconnected-dprintf on`: prints without a debugger, until the next one comes."""
    program = serve_common.PROGRAM
    with folder() as work:
        os.mkfifo(work / "ready")
        with on_port(program, "spin", work / "ready", program=AS_GDBSERVER, options=()) as server:
            pid = int(server.wait_for(r"created; pid = (\d+)").group(1))
            turn = place_of(gdb(work, PERSISTING % {"remote": server.remote, "persist": "on"},
                                program))
            (work / "ready").read_text()
            server.wait_for(r"\nbeat \d+\n", times=20)
            check(code_at(pid, turn) == 0xcc, "the breakpoint is there")
            shown = gdb(work, f"""
                result([run("target remote {server.remote}"), run("info breakpoints"),
                        run("disconnect")])
                """, program)
            check("No breakpoints" in shown[1], f"the next debugger: {shown}")
            check(code_at(pid, turn) != 0xcc, "the breakpoint is gone")
    print("persisting: 20 lines without a debugger")


def not_persisting():
    """By default the breakpoint goes with its debugger, and the program stays as it was."""
    program = serve_common.PROGRAM
    with folder() as work, on_port(program, "spin", work / "ready", program=AS_GDBSERVER,
                                   options=()) as server:
        pid = int(server.wait_for(r"created; pid = (\d+)").group(1))
        turn = place_of(gdb(work, PERSISTING % {"remote": server.remote, "persist": "off"},
                            program))
        server.wait_for("will reopen the connection")
        check(code_at(pid, turn) != 0xcc, "the breakpoint is gone")
        check("beat" not in server.said(), server.said())


def place_of(said):
    found = re.search("Dprintf 2 at (0x[0-9a-f]+)", said)
    check(found, said)
    return int(found[1], 16)


def code_at(pid, address):
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(address)
        return memory.read(1)[0]


def places():
    found = {}
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        for mark in re.findall(r"/\* (\w+) \*/", line):
            found[mark] = number
    return found | {"hbreak": hardware_breakpoint()}


def without_accidents(text, pid):
    text = re.sub(rf"\b{pid}\b", "PID", text)
    text = re.sub(r"(Thread PID\.|LWP )\d+", r"\1TID", text)
    text = re.sub(r"\[(New|Switching to) Thread .*\n", "", text)
    text = re.sub(r'Thread \d+ "', 'Thread N "', text)
    return re.sub(r"localhost:\d+", "REMOTE", text)


def session(program, script, argument):
    with folder() as work, on_port(PROGRAM, argument, program=program) as server:
        pid = server.wait_for(r"created; pid = (\d+)").group(1)
        shown = gdb(work, (START + script + END) % {"remote": server.remote, **places()},
                    PROGRAM)
        server.ended()
        said = [line for line in server.said().splitlines()
                if re.match(r"(i=|x |  |hit |only|Child )", line)]
        check(not alive(int(pid)), "the program is gone")
    return [[command, without_accidents(text, pid)] for command, text in shown], said


need("gdb", "gdbserver")
persisting()
not_persisting()
for name, script, argument in (
    ("conditions", CONDITIONS, "loops"),
    ("commands", COMMANDS, "loops"),
    ("threads", THREADS, "threads"),
):
    ours, our_words = session(AS_GDBSERVER, script, argument)
    theirs, their_words = session(["gdbserver"], script, argument)
    for mine, other in zip(ours, theirs):
        same(mine, other, f"{name}: {mine[0]}")
    if name == "threads":  # in whichever order they came
        our_words, their_words = sorted(our_words), sorted(their_words)
        same(len(our_words), 4 * 500 + 1, "threads: hits that printed")
    # gdbserver runs commands whatever the condition says.
    only = [line for line in our_words if line.startswith("only")]
    same(only, [f"only {i}" for i in range(10, 20)] if name == "commands" else [], f"{name}: only")
    our_words = [line for line in our_words if not line.startswith("only")]
    their_words = [line for line in their_words if not line.startswith("only")]
    same(our_words, their_words, f"{name}: what the servers print")
    print(f"{name}: {len(ours)} commands agree, {len(our_words)} lines printed")
