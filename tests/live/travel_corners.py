#!/usr/bin/env python3
"""What is odd about going through a recorded run in stock GDB: prefixed instructions that repeat,
code that changes itself, watchpoints that overlap, the two ends, and what nobody recorded."""

import json
import subprocess
import sys

sys.dont_write_bytecode = True

import replay_common as common

REP, PATCH, BYTE = 0x401006, 0x401008, 0x401020


def patch(pc, value, wide):
    """mov byte ptr [BYTE], value: seven bytes; relative to what follows where wide."""
    place = BYTE - (pc + 7) if wide else BYTE
    return "c605" + place.to_bytes(4, "little", signed=wide).hex() + value


def steps(wide):
    """Address, opcode, registers that it changes, bytes that it writes or reads: what was, what
    is."""
    return [
        (0x401000, "fc", {}, []),                 # cld
        (0x401001, "b903000000", {"cx": 3}, []),  # mov cx, 3
        (REP, "f3a4", {"cx": 2, "si": 0x5001, "di": 0x6001},  # rep movsb
         [(0x6000, "00", "41"), (0x5000, "41", None)]),
        (REP, "f3a4", {"cx": 1, "si": 0x5002, "di": 0x6002},
         [(0x6001, "00", "42"), (0x5001, "42", None)]),
        (REP, "f3a4", {"cx": 0, "si": 0x5003, "di": 0x6003},
         [(0x6002, "00", "43"), (0x5002, "43", None)]),
        (PATCH, patch(PATCH, "cc", wide), {}, [(BYTE, "90", "cc")]),
        (0x40100F, "eb0f", {}, []),               # jmp BYTE
        (BYTE, "cc", {}, []),
        (BYTE + 1, patch(BYTE + 1, "f4", wide), {}, [(BYTE, "cc", "f4")]),
        (BYTE + 8, "ebf6", {}, []),               # jmp BYTE
        (BYTE, "f4", {}, []),
        (BYTE + 1, "90", {}, []),                 # somebody else has written it
    ]


WALK = """
run({connect!r})
def moment():
    return int(run("monitor where").split()[2])
def after(*commands):
    for command in commands:
        said = run(command)
    return moment()
seen = {{}}
{body}
result(seen)
"""

BODY = """
seen["unknown"] = [run("output $" + name) for name in {unknown!r}]
seen["no memory"] = run("x/bx 0x9000")
seen["rep"] = [[after("stepi"), run("output ${cx}"), run("x/3xb 0x6000").split()[1:]]
               for _ in range(5)]
seen["rep back"] = [[after("reverse-stepi"), run("output ${cx}")] for _ in range(3)]
run("break *0x401006")
seen["breaks"] = [after("continue") for _ in range(3)]
run("delete")
seen["code"] = []
for number in (5, 6, 8, 9, 11):
    run("monitor goto %d" % number)
    run("maintenance flush register-cache")
    run("maintenance flush dcache")
    seen["code"].append([run("x/i 0x401020").split()[1], run("output/x $pc")])
"""

ENDS = """
seen["end"] = after("continue")
run("break *0x401021")
seen["at the end"] = [after(command) for command in
                      ("continue", "stepi", "stepi", "continue", "stepi 3", "nexti")]
seen["back"] = [after("reverse-continue"), after("reverse-stepi"), after("stepi")]
run("delete")
seen["begin"] = [after("reverse-continue"), after("reverse-stepi"), after("reverse-continue")]
run("break *0x401000")
seen["at the begin"] = [after(command) for command in
                        ("reverse-continue", "reverse-stepi", "stepi", "reverse-stepi")]
"""

WATCHES = """
kinds = gdb.WP_WRITE, gdb.WP_READ, gdb.WP_ACCESS
def watch(what, kind=gdb.WP_WRITE):
    return gdb.Breakpoint(what, gdb.BP_WATCHPOINT, kind)
def stops(*commands):
    return [[after(command), [one.hit_count for one in watches]] for command in commands]
watches = [watch("*(char *) 0x6001"), watch("*(short *) 0x6002"), watch("*(int *) 0x6000"),
           watch("*(char (*)[3]) 0x6000")]
seen["overlapping"] = stops("continue", "continue", "continue", "reverse-continue")
run("delete")
run("monitor goto 0")
run("maintenance flush register-cache")
watches = [watch("*(char *) 0x5001", gdb.WP_READ)]
seen["read"] = stops("continue", "continue", "reverse-continue", "reverse-continue")
run("delete")
watches = [watch("*(short *) 0x6001", gdb.WP_ACCESS)]
seen["access"] = stops("continue", "continue", "continue", "reverse-continue")
run("delete")
watches = [gdb.Breakpoint("*0x401006")]
watches[0].condition = "{cx} == 2"
seen["condition"] = stops("reverse-continue", "reverse-continue", "continue")
"""

REFUSALS = """
run("monitor goto 3")
seen["goto"] = [[run("monitor goto " + where), moment()]
                for where in ("12", "99999999999999999999", "-1", "", "x")]
seen["refused"] = [run(command) for command in
                   ("run", "starti", "print $pc = 5", "set var *(char *) 0x6000 = 1", "call 0x5()")]
seen["moment"] = moment()
seen["kill"] = run("kill")
"""


def trace(work, wide):
    """JSON lines, for x86-64 or i386; and x64dbg's format made of it."""
    names = {name: ("r" if wide else "e") + name for name in ("cx", "si", "di", "sp")}
    now = {names["cx"]: 9, names["si"]: 0x5000, names["di"]: 0x6000, names["sp"]: 0x7000}
    lines, told = [{"catalog": {"endian": "little", "machine": "x86-64" if wide else "i386"}}], {}
    for pc, opcode, changed, touched in steps(wide):
        after = {**now, **{names[name]: value for name, value in changed.items()}}
        accesses = []
        for address, was, new in touched:
            one = {"addr": hex(address), "size": 1, "access": "write" if new else "read",
                   "old": was}
            accesses.append({**one, "new": new} if new else one)
            if address >> 12 == 6:  # what x64dbg stores beside it
                rest = 7 if wide else 3
                accesses.append({"addr": hex(address + 1), "size": rest, "access": "nearby",
                                 "old": "00" * rest})
        lines.append({"kind": "step", "tid": 5, "pc": hex(pc), "opcode": opcode,
                      "before": {name: hex(value) for name, value in now.items()
                                 if told.get(name) != value},
                      "registers": {name: hex(value) for name, value in after.items()
                                    if now[name] != value},
                      "memory": accesses})
        told = now = after
    source = work / "corners.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = work / ("corners.trace64" if wide else "corners.trace32")
    subprocess.run([common.TRACEWELL, "convert", source, made], check=True, capture_output=True)
    return source, made


def walk(work, path, body, wide):
    values = {"cx": "rcx" if wide else "ecx",
              "unknown": ("rax", "eflags") if wide else ("eax", "eflags")}
    if body is WATCHES:
        values["cx"] = "$" + values["cx"]
    script = WALK.format(connect=f"target remote | {common.TRACEWELL} replay {path} -",
                         body=body.format(**values))
    return common.gdb(work, script, timeout=30)


def check_body(seen, recorded_all):
    if not recorded_all:
        common.same(seen["unknown"], ["<unavailable>", "<unavailable>"], "what nobody recorded")
    common.check("Cannot access memory" in seen["no memory"], seen["no memory"])
    copied = [["0x00"] * 3, ["0x00"] * 3, ["0x41", "0x00", "0x00"], ["0x41", "0x42", "0x00"],
              ["0x41", "0x42", "0x43"]]
    common.same(seen["rep"], [[moment, str(cx), bytes_] for moment, cx, bytes_ in
                              zip(range(1, 6), (9, 3, 2, 1, 0), copied)], "a step an iteration")
    common.same(seen["rep back"], [[4, "1"], [3, "2"], [2, "3"]], "backwards")
    common.same(seen["breaks"], [3, 4, 11], "a stop an iteration")
    common.same([one[0] for one in seen["code"]], ["nop", "int3", "int3", "hlt", "hlt"],
                "code that changes")


def check_ends(seen):
    common.same(seen["end"], 11, "the last step stands for the end")
    common.same(seen["at the end"], [11] * 6, "on a breakpoint at the end")
    common.same(seen["back"], [8, 7, 8], "back from there")
    common.same(seen["begin"], [0, 0, 0], "the beginning")
    common.same(seen["at the begin"], [0, 0, 1, 0], "on a breakpoint at the beginning")


def check_watches(seen):
    common.same(seen["overlapping"], [[3, [0, 0, 1, 1]], [4, [1, 0, 2, 2]], [5, [1, 1, 3, 3]],
                                      [4, [1, 2, 4, 4]]], "all that hold the byte are told")
    common.same(seen["read"], [[4, [1]], [11, [1]], [3, [2]], [0, [2]]], "reads")
    common.same(seen["access"], [[4, [1]], [5, [2]], [11, [2]], [4, [3]]], "accesses")
    common.same(seen["condition"], [[3, [1]], [0, [1]], [3, [2]]], "a condition, both ways")


def check_refusals(seen):
    common.same([moment for _, moment in seen["goto"]], [3] * 5, "gone nowhere")
    for said in seen["refused"] + [said for said, _ in seen["goto"]]:
        common.check(said.startswith("error: "), f"refused: {seen}")
    common.same(seen["moment"], 3, "nothing has moved")
    common.check("error" not in seen["kill"], seen["kill"])


def main():
    common.need("gdb")
    with common.folder() as work:
        source, made = trace(work, True)
        check_body(walk(work, source, BODY, True), False)
        check_ends(walk(work, made, ENDS, True))
        check_watches(walk(work, made, WATCHES, True))
        check_refusals(walk(work, source, REFUSALS, True))
        source, made = trace(work, False)
        check_body(walk(work, source, BODY, False), False)
        check_body(walk(work, made, BODY, False), True)


main()
