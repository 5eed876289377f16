#!/usr/bin/env python3
# timeout: 240
"""Every form of tfind, in stock GDB through replay, against a naive search in what
`tracewell print` tells of the same file. (GDB's own search in files cannot be the model: it forgets
its place when it looks for a pc.)"""

import random
import sys

sys.dont_write_bytecode = True

import replay_common as common

WALK = """
import re
said = gdb.execute("target remote " + {comm!r}, to_string=True)
ours = dict(re.findall(r"tracepoint (\\d+) for target's tracepoint (\\d+)", said))
lines = {{}}
for number in {lines!r}:
    table = gdb.decode_line("replay_program.c:%d" % number)[1][0].symtab.linetable()
    starts = sorted({{entry.pc for entry in table}})
    mine = min(entry.pc for entry in table if entry.line == number)
    lines[number] = [mine, min(start for start in starts if start > mine) - 1]
seen = []
for command in {commands!r}:
    said = run(command)
    seen.append([command, int(gdb.parse_and_eval("$trace_frame")),
                 int(gdb.parse_and_eval("$tracepoint")), said])
result({{"lines": lines, "seen": seen, "numbers": ours}})
"""


class Model:
    """Frames with `tracepoint` and `pc` (or None), and which of them is selected."""

    def __init__(self, frames, lines, numbers):
        self.frames = [
            (numbers[frame["tracepoint"]], int(frame["pc"], 16) if frame.get("pc") else None)
            for frame in frames
        ]
        self.unknown = set(numbers) - set(numbers.values())
        self.numbers = numbers
        self.lines = {int(number): tuple(ends) for number, ends in lines.items()}
        self.at = None

    def search(self, wanted):
        start = 0 if self.at is None else self.at + 1
        for number in range(start, len(self.frames)):
            if wanted(*self.frames[number]):
                return number
        return None

    def inside(self, lo, hi):
        return self.search(lambda _, pc: pc is not None and lo <= pc <= hi)

    def outside(self, lo, hi):
        return self.search(lambda _, pc: pc is not None and not lo <= pc <= hi)

    def line_around(self, pc):
        for ends in self.lines.values():
            if ends[0] <= pc <= ends[1]:
                return ends
        raise KeyError(hex(pc))

    def find(self, words):
        count = len(self.frames)
        if not words:
            number = 0 if self.at is None else self.at + 1
        elif words == ["-"]:
            number = None if not self.at else self.at - 1
        elif words == ["start"]:
            number = 0
        elif words[0] in ("none", "end"):
            return None
        elif words[0] == "tracepoint":
            wanted = int(words[1]) if len(words) > 1 else self.frames[self.at][0]
            if wanted in self.unknown:  # GDB passes on what it has no tracepoint for
                wanted = self.numbers[wanted]
            return self.search(lambda tracepoint, _: tracepoint == wanted)
        elif words[0] == "pc":
            pc = int(words[1], 0) if len(words) > 1 else self.frames[self.at][1]
            return self.inside(pc, pc)
        elif words[0] == "range":
            return self.inside(*(int(word, 0) for word in words[1].split(",")))
        elif words[0] == "outside":
            return self.outside(*(int(word, 0) for word in words[1].split(",")))
        elif words[0] == "line" and len(words) > 1:
            return self.inside(*self.lines[int(words[1])])
        elif words[0] == "line":
            return self.outside(*self.line_around(self.frames[self.at][1]))
        else:
            number = int(words[0])
        return number if number is not None and 0 <= number < count else None

    def tfind(self, command):
        """What $trace_frame is afterwards. GDB leaves frames when a script's search fails."""
        self.at = self.find(command.split()[1:])
        return -1 if self.at is None else self.at


def make_commands(rng, frames, lines, count):
    pcs = sorted({int(frame["pc"], 16) for frame in frames if frame.get("pc")})
    near = [pc + step for pc in pcs for step in (-1, 0, 1)]
    commands = ["tfind 0", "tfind", "tfind -", "tfind start", "tfind -", "tfind none", "tfind",
                f"tfind {len(frames) - 1}", "tfind", f"tfind {len(frames)}", "tfind end"]
    for _ in range(count):
        low, high = sorted((rng.choice(near), rng.choice(near)))
        commands.append(rng.choice([
            "tfind",
            "tfind -",
            f"tfind {rng.randrange(len(frames) + 2)}",
            f"tfind tracepoint {rng.randrange(1, 5)}",
            f"tfind pc {rng.choice(near):#x}",
            f"tfind range {low:#x},{high:#x}",
            f"tfind outside {low:#x},{high:#x}",
            f"tfind line {rng.choice(lines)}",
        ]))
        # What takes its place from the selected frame follows one that is known to be there.
        if rng.random() < 0.3:
            commands.append(f"tfind {rng.randrange(len(frames) // 2)}")
            commands.append(rng.choice(["tfind tracepoint", "tfind pc", "tfind line"]))
    return commands


def main():
    common.need("gdb", "gdbserver", "gcc")
    seed = 20
    rng = random.Random(seed)
    with common.folder() as work:
        program = common.compile_program(work, "fixed", "-no-pie", "-fno-pie")
        trace = work / "trace.tfile"
        common.record(work, program, trace)
        frames = common.frames(trace)
        common.check(len({frame["tracepoint"] for frame in frames}) == 3, "three tracepoints")
        lines = [common.line_of(mark) for mark in ("in leaf", "in middle", "leaves middle")]
        commands = make_commands(rng, frames, lines, 400)
        with common.replay(work, trace, "--image", program) as comm:
            script = WALK.format(comm=comm, lines=lines, commands=commands)
            walked = common.gdb(work, script, program)
        # GDB has numbers of its own for the file's tracepoints, and shows no others.
        numbers = {int(theirs): int(own) for own, theirs in walked["numbers"].items()}
        model = Model(frames, walked["lines"], numbers)
        found = 0
        for number, (command, frame, tracepoint, said) in enumerate(walked["seen"]):
            before = model.at
            try:
                expected = model.tfind(command)
            except KeyError:
                # Between the known lines: take GDB's word for it.
                model.at = None if frame < 0 else frame
                continue
            common.same(frame, expected, f"{number}: {command} after {before}: {said}")
            if expected >= 0:
                found += 1
                common.same(tracepoint, model.frames[expected][0], f"{number}: {command}")
        common.check(found > 100, "searches that find something")


main()
