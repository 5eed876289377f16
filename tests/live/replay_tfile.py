#!/usr/bin/env python3
# timeout: 240
"""A file that stock GDB saved from gdbserver: through replay GDB sees of every frame what its own
`target tfile` shows (of a program that is where it was linked to be). Of a PIE, whose symbols
`target tfile` leaves where the file has them, replay makes it show the same things by name."""

import re
import sys

sys.dont_write_bytecode = True

import replay_common as common

LOOK = """
gdb.execute({connect!r})
look = {{"tstatus": run("tstatus"), "points": run("info tracepoints"), "frames": []}}
expressions = ("n", "text", "local", "sum", "*where", "where->name", "counter", "table", "second",
               "$hits", "words[1]", "$trace_line", "$tracepoint", "$pc", "$sp", "$rax", "$eflags",
               "$xmm0", "$fs_base", "$_siginfo")
frame = 0
while True:
    if "Found" not in run("tfind %d" % frame):
        break
    seen = {{"registers": run("info all-registers"), "dump": run("tdump"), "code": run("x/2i $pc"),
            "where": run("frame"), "symbol": run("info symbol $pc").split(" of ")[0].strip()}}
    for expression in expressions:
        seen[expression] = run("output " + expression)
    look["frames"].append(seen)
    frame += 1
run("tfind none")
look["outside"] = [run("output words[2]"), run("x/3i leaf")]
result(look)
"""


def look(work, connect, *arguments):
    return common.gdb(work, LOOK.format(connect=connect), *arguments)


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "0x…", text)


def compare_fixed(work):
    program = common.compile_program(work, "fixed", "-no-pie", "-fno-pie")
    trace = work / "fixed.tfile"
    common.record(work, program, trace)
    by_gdb = look(work, f"target tfile {trace}", program)
    with common.replay(work, trace, "--image", program) as comm:
        by_us = look(work, f"target remote {comm}", program)
    common.check(len(by_gdb["frames"]) > 50, "a few dozen frames")
    common.same(len(by_us["frames"]), len(by_gdb["frames"]), "number of frames")
    for number, (ours, theirs) in enumerate(zip(by_us["frames"], by_gdb["frames"])):
        for what in theirs:
            common.same(ours[what], theirs[what], f"frame {number}: {what}")
    common.same(by_us["points"].replace("\tinstalled on target\n", ""),
                by_gdb["points"].replace("\tnot installed on target\n", ""), "tracepoints")
    for line in by_gdb["tstatus"].splitlines():
        known_to_files_only = line.startswith(("Using a trace file", "Trace will stop"))
        common.check(known_to_files_only or line in by_us["tstatus"], f"tstatus: {line}")
    common.check('"two"' in by_us["outside"][0], "a constant outside of frames")
    return by_us


def compare_pie(work, fixed):
    program = common.compile_program(work, "pie", "-pie", "-fPIE")
    trace = work / "pie.tfile"
    common.record(work, program, trace)
    # Where the kernel puts a PIE without address randomization, which gdbserver turns off.
    with common.replay(work, trace, "--image", f"{program}@0x555555554000") as comm:
        # GDB learns the program's name from the server.
        relocated = look(work, f"target remote {comm}")
    common.same(len(relocated["frames"]), len(fixed["frames"]), "number of frames")
    for number, (pie, other) in enumerate(zip(relocated["frames"], fixed["frames"])):
        for what in ("n", "sum", "where->name", "counter", "$hits", "$trace_line", "$tracepoint"):
            common.same(pie[what], other[what], f"PIE, frame {number}: {what}")
        for what in ("text", "second", "*where"):
            common.same(without_addresses(pie[what]), without_addresses(other[what]),
                        f"PIE, frame {number}: {what}")
            common.check("0x5555555" in pie["$pc"], f"pc {pie['$pc']}")
        common.check(re.search(r"(leaf|middle|main) ", pie["symbol"]), f"symbol {pie['symbol']}")
        common.check("<" in pie["code"], f"code {pie['code']}")


def main():
    common.need("gdb", "gdbserver", "gcc")
    with common.folder() as work:
        fixed = compare_fixed(work)
        compare_pie(work, fixed)


main()
