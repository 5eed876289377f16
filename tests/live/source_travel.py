#!/usr/bin/env python3
"""Source lines in both directions, in stock GDB: a C program's run, recorded by a stepper, with its
files at hand: position-independent and not, and as a program of Windows."""

import subprocess
import sys

sys.dont_write_bytecode = True

import pe_file
import replay_common as common
import step_recorder

SOURCE = common.SOURCE / "tests/live/source_program.c"
HERE = 0x7FF600000000  # where the program of Windows was
WANTED = 0x140000000   # where its file wants to be

WALK = """
def place():
    frame = gdb.selected_frame()
    return [frame.name(), frame.find_sal().line, int(gdb.parse_and_eval("total"))]
run({connect!r})
seen = []
for command in {commands!r}:
    text = run(command)
    seen.append([command, *place(), text])
result({{"seen": seen, "libraries": run("info sharedlibrary"),
         "limit": run("output limit")}})
"""


def line_of(mark):
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        if f"/* {mark} */" in line:
            return number
    raise KeyError(mark)


def walk():
    """Commands, and where they lead: function, line, total; and a word of what GDB says."""
    lines = {name: line_of(name) for name in ("in square", "leaves square", "loop", "calls", "adds",
                                              "fills", "adds 100", "returns")}
    start = lines["fills"] - 1

    def at(function, mark, total, word=""):
        line = lines[mark] if isinstance(mark, str) else mark
        return [function, line, total, word]

    return [
        ("next", at("main", "fills", 0)),
        ("step", at("fill", "loop", 0)),
        ("next", at("fill", "calls", 0)),
        ("next", at("fill", "adds", 0)),          # over square
        ("reverse-next", at("fill", "calls", 0)),
        ("step", at("square", "in square", 0)),
        ("next", at("square", "leaves square", 0)),
        ("reverse-next", at("square", "in square", 0)),
        ("finish", at("fill", "calls", 0)),
        ("print $", at("fill", "calls", 0, "= 0")),  # what square returned
        ("next", at("fill", "adds", 0)),
        ("reverse-step", at("square", lines["leaves square"] + 1, 0)),
        ("reverse-finish", at("fill", "calls", 0)),
        (f"tbreak {lines['adds']} if i == 3", at("fill", "calls", 0)),
        ("continue", at("fill", "adds", 5)),
        (f"until {lines['calls']}", at("fill", "calls", 14)),
        (f"advance {lines['adds']}", at("fill", "adds", 14)),
        ("break square if n == 2", at("fill", "adds", 14)),
        ("reverse-continue", at("square", "in square", 1)),
        ("up", at("fill", "calls", 1)),
        ("delete", at("fill", "calls", 1)),
        ("down", at("square", "in square", 1)),
        ("watch total", at("square", "in square", 1, "Hardware watchpoint")),
        ("continue", at("fill", "loop", 5)),
        ("reverse-continue", at("fill", "adds", 1)),
        ("reverse-continue", at("fill", "adds", 0)),
        ("delete", at("fill", "adds", 0)),
        ("reverse-finish", at("main", "fills", 0)),
        ("next", at("main", "adds 100", 30)),
        ("reverse-step", at("fill", lines["adds"] + 2, 30)),
        ("finish", at("main", "adds 100", 30)),
        ("next", at("main", "returns", 130)),
        ("reverse-next", at("main", "adds 100", 30)),
        ("reverse-next", at("main", "fills", 0)),  # all of fill
        ("reverse-next", at("main", start, 0)),
        ("reverse-next", at("main", start, 0)),
        ("continue", at("main", lines["returns"] + 1, 130)),
        ("stepi", at("main", lines["returns"] + 1, 130)),
    ]


def check_walk(work, what, trace, *images):
    options = " ".join(f"--image {image}" for image in images)
    steps = walk()
    script = WALK.format(connect=f"target remote | {common.TRACEWELL} replay {trace} {options} -",
                         commands=[command for command, _ in steps])
    told = common.gdb(work, script)
    for number, (got, (command, expected)) in enumerate(zip(told["seen"], steps), 1):
        common.same(got[1:4], expected[:3], f"{what}: {number}. {command}: {got[4]}")
        common.check(expected[3] in got[4], f"{what}: {number}. {command}: {got[4]}")
    common.same(told["limit"], "5", f"{what}: a constant, from the image alone")
    return told


def build(work, name, *flags):
    path = work / name
    subprocess.run(["gcc", "-g", "-O0", *flags, str(SOURCE), "-o", str(path)], check=True)
    return path


def convert(work, name):
    subprocess.run([common.TRACEWELL, "convert", f"{name}.jsonl", f"{name}.trace64"], cwd=work,
                   check=True, capture_output=True)
    return work / f"{name}.trace64"


def programs_of_linux(work):
    """With a library that nobody calls."""
    library = build(work, "library.so", "-shared", "-fpic", "-Dmain=nobody", "-Dtotal=other")
    program = build(work, "pie", "-pie", "-fpie")
    base = step_recorder.record(program, work / "pie.jsonl")
    images = f"{program}@{base:#x}", f"{library}@0x7e0000000000"
    for trace in (work / "pie.jsonl", convert(work, "pie")):
        told = check_walk(work, trace.name, trace, *images)
        common.check(str(library) in told["libraries"], told["libraries"])
    program = build(work, "fixed", "-no-pie", "-fno-pie")
    step_recorder.record(program, work / "fixed.jsonl")
    check_walk(work, "fixed.trace64", convert(work, "fixed"), program)


def program_of_windows(work):
    """The code that ran is linked at HERE, the file at WANTED; they differ by nothing else."""
    flags = ["-nostdlib", "-static", "-fpie", "-Wl,-e,main", "-Wl,--build-id=none",
             "-fno-asynchronous-unwind-tables"]  # .debug_frame rather than .eh_frame
    ran = build(work, "ran", *flags, f"-Wl,-Ttext-segment={HERE:#x}")
    linked = build(work, "linked", *flags, f"-Wl,-Ttext-segment={WANTED:#x}")
    program = work / "squares.exe"
    pe_file.from_elf(linked, WANTED, program)
    base = step_recorder.record(ran, work / "windows.jsonl")
    common.same(base, HERE, "where it was loaded")
    image = f"{program}@{HERE:#x}"
    for trace in (work / "windows.jsonl", convert(work, "windows")):
        told = check_walk(work, trace.name, trace, image)
        common.check(str(program) in told["libraries"], told["libraries"])


def main():
    common.need("gdb", "gcc", "objdump", "nm")
    with common.folder() as work:
        programs_of_linux(work)
        program_of_windows(work)


main()
