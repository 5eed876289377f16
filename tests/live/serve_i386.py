#!/usr/bin/env python3
"""32-bit programs in stock GDB, through gdbserver and through `serve`: what GDB shows, and the
traces that it records, must not differ."""
# skips
# timeout: 300

import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_common import (  # noqa: E402
    AS_GDBSERVER, PATIENT, TRACEWELL, by_names, check, folder, gdb, need, on_port, same)
from trace_common import runs_32_bit_programs  # noqa: E402

INFERIORS = pathlib.Path(os.environ["TRACEWELL_INFERIORS"])
SOURCE = pathlib.Path(os.environ["TRACEWELL_SOURCE"]) / "tests/inferiors/program_32.h"
# The stack begins below the environment.
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
# gdbserver 13 looks for AVX-512 and protection keys where Intel's processors keep them.
INTEL = "GenuineIntel" in pathlib.Path("/proc/cpuinfo").read_text()
REGISTERS_MAY_DIFFER = re.compile(r"k[0-7]|zmm\dh")
PKRU_OF_LINUX = "0x55555554"  # what threads begin with: access by key 0 only

SCRIPT = """
shown = []
def show(command):
    shown.append([command, run(command)])
run("set sysroot /")
run("target remote %(remote)s")
for command in %(commands)r:
    show(command)
result(shown)
"""

LOOKING = [
    "info registers", "print $orig_eax", "break inner", "continue", "backtrace",
    "info registers", "info sharedlibrary", "info auxv", "info locals", "info args", "step",
    "step", "step", "info locals", "finish", "stepi", "x/3i $pc", "info registers", "watch watched",
    "continue", "continue", "delete", "call made(3)", "print root(2)", "print wide", "print points",
    "break made", "continue", "up", "info locals", "down", "finish", "info float",
    "print $xmm5.v4_float", "print $ymm6.v8_float", "print $mxcsr", "print $st0", "delete",
    "set var $eax = -5", "print $eax", "set var $xmm1.uint128 = 77", "print $xmm1.uint128",
    "set var $st3 = 2.5", "print $st3", "hbreak root", "continue", "finish", "delete",
]
REST = [
    "break thread_main", "continue", "next", "info threads", "backtrace", "delete", "continue",
    "print $_siginfo", "set var $_siginfo._sifields._rt.si_sigval.sival_int = 1000",
    "break on_signal", "continue", "backtrace", "print *info", "delete", "continue",
    "print $_siginfo", "info registers", "backtrace", "continue",
]
EXEC = [
    "info registers", "catch exec", "continue", "info registers", "break inner", "continue",
    "backtrace", "info registers", "info sharedlibrary", "delete", "continue",
]
BACK = [
    "break marker", "catch exec", "continue", "info registers", "continue", "info registers",
    "break marker", "continue", "backtrace", "x/2i $pc", "delete", "continue",
]

TRACE = """
target remote {remote}
break main
continue
tvariable $hits = 5
trace program_32.h:{inner}
actions
  collect $regs, $args, $locals, counter, points
  collect $_ret, *name@8, wide >> 4, points[a % 3].weight, $hits
  teval $hits = $hits + 2
end
trace program_32.h:{made}
actions
  collect $regs, n, result
  while-stepping 4
    collect $regs, counter
  end
end
trace program_32.h:{loop} if points[i % 3].x > 0 && wide != 3 && sum >= 0
actions
  collect/s20 points[i % 3].name
  collect $regs, i, sum, text
end
trace program_32.h:{thread}
actions
  collect $args, $regs
end
break program_32.h:{signals}
tstart
continue
tstop done
tsave {file}
{dumps}
kill
"""


def line_of(mark):
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        if f"/* {mark} */" in line:
            return number
    raise KeyError(mark)


def without_accidents(text, pid):
    """The same whatever the process's and the threads' numbers are."""
    for word in (pid, f"0x{int(pid):x}"):
        text = re.sub(rf"\b{word}\b", "PID", text)
    text = re.sub(r"(Thread PID\.|LWP )\d+", r"\1TID", text)
    text = re.sub(r"\[(New|Switching to) Thread .*\n", "", text)
    # Where another thread waits.
    text = re.sub(r"(?m)^(  1    Thread \S+ \S+ ).*", r"\1", text)
    text = re.sub(r"localhost:\d+", "REMOTE", text)
    return re.sub(r"(AT_RANDOM.*|AT_SYSINFO.*)", "", text)


def without_strings(text):
    """In trace frames ours reads what the program cannot write to, collected or not."""
    return re.sub(r'(0x[0-9a-f]+) ?("[^"]*")?(<error: Cannot access memory[^>]*>)?', r"\1", text)


def look(server, program, commands, *arguments):
    with folder() as work, on_port(program, *arguments, program=server, env=ENVIRONMENT) as served:
        pid = served.wait_for(r"created; pid = (\d+)").group(1)
        filled = SCRIPT % {"remote": served.remote, "commands": commands}
        shown = gdb(work, filled, program)
        status = served.ended()
    return [[command, without_accidents(text, pid)] for command, text in shown] + [["end", status]]


def both_look(name, program, commands, *arguments):
    ours = look(AS_GDBSERVER, program, commands, *arguments)
    theirs = look(["gdbserver"], program, commands, *arguments)
    for mine, other in zip(ours, theirs, strict=True):
        same(mine, other, f"{name}: {mine[0]}")
    failed = [text for _, text in ours[:-1] if "error:" in text]
    check(not failed, f"{name}: {failed}")
    print(f"{name}: {len(ours)} commands agree")


def record(server, program, work, name):
    """Traces under `server`; returns what GDB dumps of it, and what we read in the file."""
    file, script = work / f"{name}.tf", work / f"{name}.gdb"
    dumps = "tfind start\n" + "tdump\ninfo registers\nbacktrace 2\ntfind\n" * 12 + "tfind none\n"
    places = {mark: line_of(mark) for mark in ("inner", "made", "loop", "thread", "signals")}
    with on_port(program, program=server, env=ENVIRONMENT) as served:
        script.write_text(TRACE.format(remote=served.remote, file=file, dumps=dumps, **places))
        done = subprocess.run(
            ["gdb", "-q", "-nx", "-batch", "-iex", "set sysroot /", *PATIENT,
             "-ex", "set pagination off",
             "-ex", "set confirm off", "-x", script, program],
            text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=100)
        pid = served.wait_for(r"created; pid = (\d+)").group(1)
    check(file.exists(), f"{name}: GDB said\n{done.stdout}{done.stderr}")
    printed = subprocess.run([TRACEWELL[0], "print", "--format", "jsonl", file],
                             capture_output=True, text=True, check=True).stdout.splitlines()
    events = [json.loads(line) for line in printed]
    by_names(events[0]["catalog"], events[1:])
    said = without_strings(without_accidents(done.stdout.replace(name, ""), pid))
    return said.splitlines(), events[0]["catalog"], events[1:]


def both_trace(name, program):
    with folder() as work:
        theirs_said, _, theirs = record(["gdbserver"], program, work, "theirs")
        ours_said, catalog, ours = record(AS_GDBSERVER, program, work, "ours")
    same(catalog["machine"], "i386", f"{name}: machine")
    for mine, other in zip(ours_said, theirs_said):
        same(mine, other, f"{name}: what GDB says")
    same(len(ours), len(theirs), f"{name}: number of frames")
    check(len(ours) > 30, f"{name}: only {len(ours)} frames")
    for mine, other in zip(ours, theirs):
        where = f"{name}: frame {mine['seq']}"
        same(list(mine.get("registers", {})), list(other.get("registers", {})), where + " names")
        for register, value in mine.get("registers", {}).items():
            if register == "pkru":  # gdbserver 13 has 0 there
                same(value, PKRU_OF_LINUX, f"{where} {register}")
            elif INTEL or not REGISTERS_MAY_DIFFER.fullmatch(register):
                same(value, other["registers"][register], f"{where} {register}")
        for frame in (mine, other):
            frame.pop("registers", None)
            for key in ("tid", "time_ns", "cpu", "pid", "process", "blocks"):
                frame.pop(key, None)
        same(mine, other, where)
    print(f"{name}: {len(ours)} frames agree")


def locals_of_threads(name, program):
    """gdbserver has no 64-bit way to the thread-local variables of a 32-bit program."""
    commands = ["break thread_main", "continue", "next", "print of_thread", "thread 1",
                "print of_thread", "set var of_thread = 11", "print of_thread", "thread 2",
                "print of_thread", "print &of_thread != 0", "print errno", "delete", "continue"]
    shown = dict()
    for command, text in look(AS_GDBSERVER, program, commands):
        shown.setdefault(command, []).append(text)
    values = [text.split(" = ")[1].strip() for text in shown["print of_thread"]]
    same(values, ["3", "7", "11", "3"], f"{name}: of_thread: {shown}")
    same(shown["print &of_thread != 0"][0].split(" = ")[1], "1\n", f"{name}: its address")


def checksums(name, program):
    """qCRC of what the file says, and of what is one byte different. (GDB does not relocate the
    sections of position-independent programs for this.)"""
    commands = ["compare-sections .text", "compare-sections .rodata", "compare-sections .data",
                "set var text[3] = 'z'", "compare-sections .data", "compare-sections .rodata"]
    ours, theirs = look(AS_GDBSERVER, program, commands), look(["gdbserver"], program, commands)
    same(ours, theirs, f"{name}: checksums")
    told = [re.search(r": (\S+)\n", text)[1] for command, text in ours if "compare" in command]
    same(told, ["matched."] * 3 + ["MIS-MATCHED!", "matched."], f"{name}: checksums: {ours}")


need("gdb", "gdbserver")
if not runs_32_bit_programs():
    sys.exit("skipped: this kernel runs no 32-bit programs")
for kind in ("program_32", "program_32_fixed"):
    executable = str(INFERIORS / kind)
    both_look(kind, executable, LOOKING + REST)
    both_trace(kind, executable)
    locals_of_threads(kind, executable)
checksums("program_32_fixed", str(INFERIORS / "program_32_fixed"))
both_look("exec of a 32-bit program", str(INFERIORS / "becomes"), EXEC,
          str(INFERIORS / "program_32"))
both_look("exec of a 64-bit program", str(INFERIORS / "becomes_32"), BACK,
          str(INFERIORS / "becomes"), str(INFERIORS / "becomes_32"))
