#!/usr/bin/env python3
# skips
# timeout: 120
"""Restartable sequences (rseq): tracepoints in them are refused, whatever kind they are; all around
them they are fast, and the program counts right."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from replay_common import check, folder, gdb, need, same  # noqa: E402
from serve_common import on_port  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

PLACES = """
def places():
    begins, ends = (int(gdb.parse_and_eval("(long)&sequence_" + name))
                    for name in ("begins", "ends"))
    lines = run("disassemble count_here").splitlines()
    found = [int(line.replace("=>", "").split()[0], 16) for line in lines if "<+" in line]
    # The one in front of them tells the kernel that they begin.
    first = found.index(begins) - 1
    return [one for one in found[first:] if one < ends]
run("target extended-remote %(remote)s")
if %(relocated)s:
    run("break main")
    run("continue")
inside = places()
"""
REFUSED = PLACES + """
said = []
for place in inside:
    for kind in ("ftrace", "trace"):
        run("delete")
        run("%%s *%%d" %% (kind, place))
        said.append(run("tstart"))
run("delete")
run("break finished")
run("continue")
result({"said": said, "code": run("output code")})
"""
AROUND = PLACES + """
run("delete")
run("tvariable $passed")
run("ftrace *((char *)&%(place)s)")
run("condition 2 ($passed = $passed + 1) > 39999990")
said = run("tstart")
run("break finished")
run("continue")
result({"said": said, "code": run("output code"), "passed": run("output $passed")})
"""


def counted(got, said=""):
    check(got["code"] in ("0", "77"), f"{got} {said}")  # 77: there are no such sequences here


def all_inside_are_refused(work):
    """Also before the loader has written into a descriptor where its sequence is."""
    for program in ("restartable", "restartable_packed"):
        for relocated in (True, False):
            with on_port(INFERIORS / program) as server:
                got = gdb(work, REFUSED % {"remote": server.remote, "relocated": relocated},
                          INFERIORS / program)
            check(len(got["said"]) == 16, f"{len(got['said'])} places: {got}")
            for said in got["said"]:
                check("is in a restartable sequence (rseq), or begins one" in said, said)
            counted(got)


def all_around_are_fast(work):
    for place in ("count_here", "count_here + 5", "sequence_ends", "sequence_aborts"):
        with on_port(INFERIORS / "restartable") as server:
            got = gdb(work, AROUND % {"remote": server.remote, "place": place,
                                        "relocated": True},
                      INFERIORS / "restartable")
            said = server.said()
        same(got["said"], "", "what tstart says")
        check("trap" not in said, said)
        counted(got, said)
        if got["code"] == "0" and place != "sequence_aborts":
            # Some begin anew behind the first of these places.
            check(int(got["passed"]) == 40000000 or
                  (place == "count_here + 5" and int(got["passed"]) > 40000000), f"{got}")


def main():
    need_fast_tracepoints()
    need("gdb")
    for part in chosen((all_inside_are_refused, all_around_are_fast)):
        with folder() as work:
            part(work)


main()
