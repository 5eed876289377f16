#!/usr/bin/env python3
"""The same debugging session in stock GDB, through gdbserver and through `serve`: what GDB shows
must not differ."""
# timeout: 240

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_common import (  # noqa: E402
    AS_GDBSERVER, PROGRAM, folder, gdb, line_of, need, on_port, same)

START = """
shown = []
def show(command):
    shown.append([command, run(command)])
run("target remote %(remote)s")
"""
END = """
result(shown)
"""

STEPPING = """
for command in ("break outer", "continue", "backtrace", "info sharedlibrary", "step", "step",
                "step", "finish", "next", "stepi", "x/i $pc", "info registers rip rsp", "x/s text",
                "print vector", "print $ymm5.v4_double", "print $xmm5.v2_double", "info threads",
                "print watched = 77", "print watched", "print $rax = 5", "print $rax",
                "set var $ymm7.v4_double[2] = 8.5", "print $ymm7.v4_double",
                "info inferiors", "call inner(3)", "info auxv", "delete", "continue"):
    show(command)
"""

# qSearch:memory.
SEARCHING = """
for command in ("find &vector[0], +sizeof(vector), 3.5", "print $_ == &vector[2]",
                "find /1 &text[0], +sizeof(text), 'l', 'o', 'o', 'k'", "print (char *) $_ - text",
                "find &text[0], +sizeof(text), 'z'", "find /b &text[0], +sizeof(text), ' '",
                "print $numfound", "set var text[3] = 'z'",
                "find /b &text[0], +sizeof(text), 'z'", "print $numfound", "kill"):
    show(command)
"""

WATCHING = """
for command in ("break %(start)d", "continue", "delete", "watch watched", "continue", "continue",
                "delete", "rwatch text", "continue", "delete", "break %(inner)d if value > 1000",
                "hbreak %(start)d", "info breakpoints", "continue"):
    show(command)
"""

THREADS = """
for command in ("break inner if value == 200", "continue", "print value",
                "print $_inferior_thread_count", "backtrace 2", "set scheduler-locking on", "next",
                "print value",
                "set scheduler-locking off", "delete", "break %(both)d", "continue",
                "print watched", "info threads", "delete", "continue"):
    show(command)
"""

SIGNALS = """
for command in ("handle SIGURG nostop noprint pass", "continue", "print $_siginfo.si_signo",
                "break on_signal", "continue", "backtrace 3", "print number", "delete", "continue",
                "print handled", "print $_siginfo._sifields._sigfault.si_addr",
                "print $_siginfo.si_signo", "backtrace 1", "print/x $_siginfo.si_code",
                "signal 0", "continue"):
    show(command)
"""


def without_accidents(text, pid):
    """The same whatever the process's and the threads' numbers are, and which thread came first."""
    text = re.sub(rf"\b{pid}\b", "PID", text)
    text = re.sub(r"(Thread PID\.|LWP )\d+", r"\1TID", text)
    text = re.sub(r"\[(New|Switching to) Thread .*\n", "", text)
    text = re.sub(r'Thread \d+ "', 'Thread N "', text)
    text = re.sub(r"localhost:\d+", "REMOTE", text)
    text = re.sub(" {2,}", " ", text)  # columns are as wide as the numbers were
    return re.sub(r"(AT_RANDOM.*|AT_SYSINFO_EHDR.*)", "", text)


def session(program, script, argument):
    places = {"start": line_of("start"), "inner": line_of("inner"), "both": line_of("both worked")}
    with folder() as work, on_port(PROGRAM, argument, program=program) as server:
        pid = server.wait_for(r"created; pid = (\d+)").group(1)
        filled = (START + script + END) % {"remote": server.remote, **places}
        shown = gdb(work, filled, PROGRAM)
        ended = server.ended()
        said = [line for line in server.said().splitlines() if line.startswith("Child ")]
    return [[command, without_accidents(text, pid)] for command, text in shown], said, ended


need("gdb", "gdbserver")
for name, script, argument in (
    ("stepping", STEPPING, ""),
    ("searching", SEARCHING, ""),
    ("watching", WATCHING, ""),
    ("threads", THREADS, "threads"),
    ("signals", SIGNALS, "signals"),
):
    ours, our_words, our_status = session(AS_GDBSERVER, script, argument)
    theirs, their_words, their_status = session(["gdbserver"], script, argument)
    for mine, other in zip(ours, theirs):
        same(mine, other, f"{name}: {mine[0]}")
    found = [text.split(" = ")[1].strip() for command, text in ours if name == "searching"
             and command.startswith("print")]
    same(found, ["1", "12", "4", "1"] if name == "searching" else [], f"{name}: what was found")
    same(our_words, their_words, f"{name}: what the server says of the end")
    same(our_status, their_status, f"{name}: exit status")
    print(f"{name}: {len(ours)} commands agree")
