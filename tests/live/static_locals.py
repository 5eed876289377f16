#!/usr/bin/env python3
# timeout: 60
"""Thread-local variables of programs that are linked statically, as stock GDB sees them."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from replay_common import check, folder, gdb, need, same  # noqa: E402
from serve_common import on_port  # noqa: E402
from trace_common import INFERIORS, runs_32_bit_programs  # noqa: E402

LOOK = """
run("target extended-remote %(remote)s")
early = run("output counted")
run("break here")
seen = []
for stop in range(2):
    run("continue")
    run("up")
    seen.append([run("output " + one) for one in (
        "counted", "aligned.number", "(long)&counted", "(long)&aligned.number",
        "(unsigned long)&counted %% sizeof(int)", "(unsigned long)&aligned %% 64")])
    run("down")
    seen[-1] += [run("output (long)" + one) for one in ("counted_at", "number_at")]
run("delete")
result({"early": early, "seen": seen, "end": run("continue")})
"""


def main():
    need("gdb")
    programs = ["static_locals", "static_locals_pie"]
    if runs_32_bit_programs():
        programs.append("static_locals_32")
    for program in programs:
        with folder() as work, on_port(INFERIORS / program) as server:
            got = gdb(work, LOOK % {"remote": server.remote}, INFERIORS / program)
        check("rror" in got["early"], f"before there are any: {got}")
        same([one[:2] for one in got["seen"]], [["5", "0"], ["15", "0"]], f"{program}: values")
        for one in got["seen"]:
            same(one[2:4] + ["0", "0"], one[6:8] + one[4:6], f"{program}: addresses")


main()
