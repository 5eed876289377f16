#!/usr/bin/env python3
# timeout: 120
"""Traces that lack what GDB would like to have: a register that was not collected, a target
description, a status that says the run is over, an executable. And one that has more: modules."""

import json
import struct
import subprocess
import sys

sys.dont_write_bytecode = True

import replay_common as common

LOOK = """
before = gdb.execute("target remote " + {comm!r}, to_string=True)
seen = {{"before": before, "tstatus": run("tstatus"), "outside": run("output $rax"), "frames": []}}
for frame in range({count}):
    said = run("tfind %d" % frame)
    seen["frames"].append([said] + [run("output/x " + what) for what in {expressions!r}])
seen["step"] = run("stepi")
seen["write"] = run("set var $rax = 1")
run("tfind none")
seen["continue"] = run("continue")
seen["tstart"] = run("tstart")
seen["info"] = run("info sharedlibrary")
seen["alive"] = run("tfind 0")
seen["threads"] = run("info threads")
result(seen)
"""


def look(work, trace, expressions, count, *options, executable=()):
    with common.replay(work, trace, *options) as comm:
        script = LOOK.format(comm=comm, count=count, expressions=expressions)
        return common.gdb(work, script, *executable)


def convert(work, catalog, events):
    """A trace file from events that are written by hand."""
    source = work / "source.jsonl"
    lines = [{"catalog": catalog}] + events
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    trace = work / "made.tfile"
    subprocess.run([common.TRACEWELL, "convert", source, trace], check=True)
    return trace


def frame(seq, **more):
    return {"seq": seq, "kind": "frame", "tracepoint": 1, **more}


CATALOG = {
    "endian": "little",
    "machine": "x86-64",
    "tracepoints": [{"number": 1, "address": "0x401000", "enabled": True,
                     "sources": [{"type": "at", "text": "*0x401000"}]}],
    "status": {"running": True, "stop": "not-run", "frames": 3},
}


def some_registers(work):
    """Only what was collected has a value, register by register."""
    trace = convert(work, CATALOG, [
        frame(0, tid=77, pc="0x401000", registers={"rax": "0x11", "rip": "0x401000"}),
        frame(1, pc="0x401000", registers={}),
        frame(2, pc="0x401000", memory=[{"addr": "0x7000", "bytes": "01020304"}]),
    ])
    seen = look(work, trace, ["$rax", "$rbx", "$rip", "*(int*)0x7000", "*(char*)0x7004"], 3)
    no = "<unavailable>"
    common.same([values[1:4] for values in seen["frames"]],
                [["0x11", no, "0x401000"], [no, no, "0x401000"], [no, no, "0x401000"]], "registers")
    common.same(seen["frames"][2][4], "0x4030201", "collected memory")
    common.check("annot access" in seen["frames"][2][5] or no in seen["frames"][2][5],
                 "memory beyond it")
    common.same(seen["outside"], no, "a register outside of frames")
    # GDB would not look at any frame of a trace that runs.
    common.check("Found trace frame 0" in seen["frames"][0][0], seen["frames"][0][0])
    common.check("is running" not in seen["tstatus"], seen["tstatus"])
    for what in ("step", "continue", "tstart", "write"):
        refused = "error" in seen[what] or "Remote failure" in seen[what]
        common.check(refused, f"{what}: {seen[what]}")
    common.check("Found trace frame 0" in seen["alive"], "the connection survives all that")
    common.check('"thread 77"' in seen["threads"], f"the frame's thread: {seen['threads']}")


def no_description(work):
    """Without a description, GDB's own default layout holds."""
    registers = b"".join(struct.pack("<Q", 0x100 + i) for i in range(16))
    registers += struct.pack("<QI", 0x401000, 0x202)
    registers += bytes(560 - len(registers))
    block = b"R" + registers
    text = b"\x7fTRACE0\nR 230\nstatus 0;tstop::0;tframes:1;tcreated:1\ntp T1:401000:E:0:0\n\n"
    trace = work / "plain.tfile"
    trace.write_bytes(text + struct.pack("<hI", 1, len(block)) + block + b"\0\0\0\0")
    seen = look(work, trace, ["$rax", "$r15", "$rip", "$eflags"], 1)
    common.same(seen["frames"][0][1:], ["0x100", "0x10f", "0x401000", "0x202"], "registers")


def modules(work):
    """The trace says what was mapped where; with permission, GDB gets the program from there."""
    flags = ("-pie", "-fPIE", "-Wl,--build-id=0x0123456789abcdef")
    program = common.compile_program(work, "pie", *flags)
    address = int(subprocess.run(["nm", program], capture_output=True, text=True, check=True)
                  .stdout.split(" T leaf")[0].split()[-1], 16)
    bias = 0x5555AAAA0000
    catalog = dict(CATALOG, modules=[{"path": str(program), "bias": hex(bias), "start": hex(bias),
                                      "build_id": "0123456789abcdef"}],
                   tracepoints=[{"number": 1, "address": hex(bias + address), "enabled": True,
                                 "sources": [{"type": "at", "text": "leaf"}]}])
    trace = convert(work, catalog, [frame(0, pc=hex(bias + address))])
    seen = look(work, trace, ["&leaf", "sizeof(table)"], 1, "--images-from-trace")
    common.check(hex(bias + address) in seen["frames"][0][1], f"leaf is at {seen['frames'][0][1]}")
    common.same(seen["frames"][0][2], "0x20", "a type of the program")
    common.check("No shared libraries" in seen["info"] or "ld-linux" in seen["info"], seen["info"])
    unasked = look(work, trace, ["&leaf"], 1)
    common.check("No symbol" in unasked["frames"][0][1], f"unasked: {unasked['frames'][0][1]}")
    # A file that is not the recorded one is not used either.
    common.compile_program(work, "pie", "-pie", "-fPIE", "-Wl,--build-id=0xffff")
    other = look(work, trace, ["&leaf"], 1, "--images-from-trace")
    common.check("No symbol" in other["frames"][0][1], f"another file: {other['frames'][0][1]}")


def main():
    common.need("gdb", "gcc", "nm")
    with common.folder() as work:
        some_registers(work)
        no_description(work)
        modules(work)


main()
