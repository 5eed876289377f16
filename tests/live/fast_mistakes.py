#!/usr/bin/env python3
# skips
# timeout: 120
"""Tracepoints where none can be: `tstart` says so, and the program is as it was. What is not fast
though it was asked for is told to GDB's user. A recording of fast tracepoints opens wherever they
were."""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from replay_common import TRACEWELL, check, folder, gdb, need, same  # noqa: E402
from serve_common import on_port  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints, records  # noqa: E402

REFUSED = """
run("target extended-remote %(remote)s")
run("break main")
run("continue")
said = []
for place in ("*((char *)&pass + 2)", "*(long *)&passes"):
    for kind in ("ftrace", "trace"):
        run("delete")
        run("%%s %%s" %% (kind, place if "+" in place else "*&passes"))
        said.append(run("tstart"))
        run("delete")
run("break finished")
run("continue")
result({"said": said, "passes": run("output passes"), "code": run("output code")})
"""
TOLD = """
run("target extended-remote %(remote)s")
open("%(definitions)s", "w").write(
    "ftrace pass\\nactions\\ncollect %(collected)s\\nend\\nbreak finished\\n")
run("source %(definitions)s")
said = run("tstart")
result({"said": said, "again": run("tstop") + run("tstart"), "end": run("continue")})
"""
RECORDED = """
run("target extended-remote %(remote)s")
run("break main")
run("continue")
pc = run("output/x $pc")
lines = run("disassemble pass").splitlines()
places = [line.replace("=>", "").split()[0] for line in lines if "<+" in line]
run("delete")
for place in places:
    run("ftrace *" + place)
run("break finished")
run("tstart")
run("continue")
run("tstop")
result({"places": places, "saved": run("tsave %(file)s"), "end": run("continue")})
"""
OPENED = """
found = []
said = run("target remote | %(replay)s")
for number in range(%(frames)d):
    run("tfind %%d" %% number)
    found.append(run("output/x $pc"))
result({"said": said, "found": found})
"""


def places_that_are_none(work):
    with on_port(INFERIORS / "conduct", "clock", "at once") as server:
        got = gdb(work, REFUSED % {"remote": server.remote}, INFERIORS / "conduct")
    inside, data = got["said"][:2], got["said"][2:]
    for said in inside:
        check("no instruction begins at 0x" in said, f"{got}")
    for said in data:
        check("there is no code at 0x" in said, f"{got}")
    same([got["passes"], got["code"]], ["400", "0"], "the program's own")


def what_is_no_fast_one(work):
    for collected, why in (("*(char *)&passed@300000", r"it may collect \d+ bytes"),
                           ("$_sdata", r"it collects \$_sdata, which only static tracepoints "
                                       r"\(strace\) have")):
        with on_port(INFERIORS / "conduct", "clock", "at once") as server:
            got = gdb(work, TOLD % {"remote": server.remote, "definitions": work / "definitions",
                                    "collected": collected}, INFERIORS / "conduct")
        told = rf"Fast tracepoint 1 at 0x\w+ is a trap, about 15 us a hit: {why}\n"
        for said in (got["said"], got["again"]):
            check(re.fullmatch(told, said), f"{got}")


def of_short_instructions(work):
    saved = work / "saved.tf"
    with on_port(INFERIORS / "conduct", "clock", "at once") as server:
        got = gdb(work, RECORDED % {"remote": server.remote, "file": saved},
                  INFERIORS / "conduct")
    frames = [one for one in records(saved) if one.get("kind") == "frame"]
    turn = len(frames) // 400  # one branch is for another argument
    passed = [int(frame["pc"], 16) for frame in frames[:turn]]
    check(turn > 10 and min(b - a for a, b in zip(passed, passed[1:])) < 5, f"{passed}")
    replay = f"{TRACEWELL} replay --image {INFERIORS / 'conduct'}@0x555555554000 {saved} -"
    opened = gdb(work, OPENED % {"replay": replay, "frames": turn}, INFERIORS / "conduct")
    same([int(at, 16) for at in opened["found"]], passed, f"the pc in each frame: {opened}")


def main():
    need_fast_tracepoints()
    need("gdb")
    for part in chosen((places_that_are_none, what_is_no_fast_one, of_short_instructions)):
        with folder() as work:
            part(work)


main()
