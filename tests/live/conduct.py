#!/usr/bin/env python3
# skips
# timeout: 120
"""Programs that change their ways while a trace runs, or had them from the beginning: their
tracepoints become what they have to be, no hit is missing, and the program does not notice."""

import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from replay_common import check, folder, gdb, need, same  # noqa: E402
from serve_common import on_port  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints, records  # noqa: E402

RUN = """
run("set non-stop %(non_stop)s")
run("target extended-remote %(remote)s")
run("set trace-buffer-size 60000000")
run("source %(definitions)s")
said = [run("tstart"), run("continue"), run("tstop")]
passes = run("output passes")
result({"said": said, "passes": passes, "status": run("tstatus"), "saved": run("tsave %(file)s"),
        "end": run("continue"), "code": run("output $_exitcode")})
"""
DEFINITIONS = """
%(kind)s pass
actions
collect n%(more)s
end
%(end)s
"""
BOTH = """
%(kind)s *pass
actions
collect $rdi, $rsi
end
%(end)s
"""

MADE = """
tbreak started
continue
%(kind)s *(long)made
actions
collect $rdi
end
break _exit
"""


def run(work, program, arguments, kind="trace", more="", non_stop="off", end="break finished",
        definitions=DEFINITIONS):
    (work / "definitions").write_text(definitions % {"kind": kind, "more": more, "end": end})
    environment = {**os.environ}
    environment.pop("TRACEWELL_FAST", None)
    with on_port(INFERIORS / program, *arguments, env=environment) as server:
        got = gdb(work, RUN % {"remote": server.remote, "file": work / "saved.tf",
                               "definitions": work / "definitions", "non_stop": non_stop},
                  INFERIORS / program)
        said = server.said()
    same(got["code"], "0", f"the program's own result: {got} {said}")
    frames = [one for one in records(work / "saved.tf") if one.get("kind") == "frame"]
    return got, frames, said


def number(frame):
    return int.from_bytes(bytes.fromhex(frame["memory"][0]["bytes"]), "little")


def it_confines_itself(work):
    for kind, non_stop in (("trace", "off"), ("ftrace", "off"), ("trace", "on")):
        got, frames, said = run(work, "conduct", ["confine"], kind, non_stop=non_stop)
        numbers = [number(frame) for frame in frames]
        same(numbers, sorted(numbers), "the order of hits")
        same(str(len(numbers)), got["passes"], "hits")
        same(numbers.count(3), 2000, f"hits at the end: {got}")
        same((numbers.count(1), numbers.count(2)), (50, 300), "hits before")
        check("begun to filter its system calls" in said, said)


def it_has_no_clock(work):
    for kind, non_stop in (("trace", "off"), ("ftrace", "on")):
        got, frames, said = run(work, "conduct", ["clock"], kind, non_stop=non_stop)
        numbers = [number(frame) for frame in frames]
        same(numbers, sorted(numbers), "the order of hits")
        same(str(len(numbers)), got["passes"], "hits")
        same(numbers.count(2), 400, f"hits at the end: {got}")
        same(numbers.count(1), 50, "hits before")
        check("may not read the time stamp counter (PR_SET_TSC): tracepoints are traps" in said,
              said)
    got, frames, said = run(work, "conduct", ["clock", "at once"], "ftrace",
                            end="tbreak started\ncontinue\nbreak finished")
    same([number(frame) for frame in frames], [2] * 400, "hits")
    check("traps in this process, about 15 us a hit: a thread may not read the time stamp counter"
          in said, said)


def it_shares_its_descriptors(work):
    """With a process that could take the memory of the trace before it is mapped."""
    _, frames, said = run(work, "conduct", ["files"], "ftrace",
                          end="tbreak started\ncontinue\nbreak finished")
    same([number(frame) for frame in frames], [2] * 50, "hits")
    check("traps in this process, about 15 us a hit: another process shares its "
              "descriptors" in said, said)


def it_handles_faults(work):
    for non_stop in ("off", "on"):
        got, frames, said = run(work, "conduct", ["handle"], more=", *text@64",
                                non_stop=non_stop)
        check("memory access error" in got["status"], got["status"])
        # The run has ended with the first of those that fault.
        same(str(len(frames) - 1 + 5), got["passes"], "hits")
        check("trap" not in said, said)


def it_wants_alignment(work):
    places = "".join(f"%(kind)s *((char *)&s{i})\nactions\ncollect $regs, s{i}@16\nend\n"
                     for i in range(8))
    for kind in ("trace", "ftrace"):
        _, frames, said = run(work, "aligned", [], kind, definitions=places + "%(end)s\n")
        same([frame["tracepoint"] for frame in frames], list(range(1, 9)) * 100, "hits")
        check(all(int(frame["registers"]["eflags"], 16) & 0x40000 for frame in frames), "AC")
        check("trap" not in said, said)


def it_shares_its_memory(work):
    """With another process: a ring for each, whatever they have in common."""
    for kind in ("trace", "ftrace"):
        got, frames, said = run(work, "beside", [], kind, definitions=BOTH)
        for who in (0, 1):
            same([int(frame["registers"]["rsi"], 16) for frame in frames
                  if int(frame["registers"]["rdi"], 16) == who], list(range(5000)),
                 f"hits of {who}: {got}")
        check("trap" not in said, said)


def its_stacks_are_small(work):
    for program in ("goroutine", "goroutine_unnamed"):
        _, frames, said = run(work, program, [], "ftrace", end="break _exit")
        same([number(frame) for frame in frames], list(range(10)), "hits")
        check("is a trap, about 15 us a hit: it is Go's code" in said, said)
    for arguments, why in (([], "it is OCaml's code"), (["made"], "it is no code of an ELF file")):
        _, frames, said = run(work, "fiber", arguments, "ftrace", definitions=MADE)
        same([int(frame["registers"]["rdi"], 16) for frame in frames], list(range(10)), "hits")
        check(f"is a trap, about 15 us a hit: {why}" in said, said)


def main():
    need_fast_tracepoints()
    need("gdb")
    for part in chosen((it_confines_itself, it_has_no_clock, it_shares_its_descriptors,
                        it_handles_faults, it_wants_alignment, it_shares_its_memory,
                        its_stacks_are_small)):
        with folder() as work:
            part(work)


main()
