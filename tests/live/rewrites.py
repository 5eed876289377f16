#!/usr/bin/env python3
# skips
# timeout: 120
"""Programs whose code does not stay as it is: what they write over, or unload and load again, has
its fast tracepoints again, or it is told that it has not."""

import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from replay_common import check, folder, gdb, need, same  # noqa: E402
from serve_common import on_port  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints, records  # noqa: E402

BEGIN = """
run("target extended-remote %(remote)s")
run("set disconnected-tracing on")
run("break %(begin)s")
run("continue")
run("source %(definitions)s")
said = [run("delete 1"), run("tstart")]
"""
CONNECTED = BEGIN + """
run("break finished")
said += [run("continue"), run("tstop")]
result({"said": said, "status": run("tstatus"), "saved": run("tsave %(file)s"),
        "end": run("continue"), "code": run("output $_exitcode")})
"""
ALONE = BEGIN + """
run("disconnect")
result({"said": said})
"""
AFTERWARDS = """
run("target extended-remote %(remote)s")
result({"status": run("tstatus"), "saved": run("tsave %(file)s")})
"""
DEFINITIONS = "%(kind)s *%(function)s\nactions\ncollect $rdi\nend\n"


def run(work, what, function, begin, kind, alone=False):
    (work / "definitions").write_text(DEFINITIONS % {"kind": kind, "function": function})
    environment = {**os.environ}
    environment.pop("TRACEWELL_FAST", None)
    words = {"file": work / "saved.tf", "definitions": work / "definitions", "begin": begin}
    with on_port(INFERIORS / "rewrites", what, options=(), env=environment) as server:
        words["remote"] = server.remote
        got = gdb(work, (ALONE if alone else CONNECTED) % words, INFERIORS / "rewrites")
        if alone:
            server.wait_for("Child exited")
            got |= gdb(work, AFTERWARDS % words, INFERIORS / "rewrites")
        else:
            same(got["code"], "0", f"the program's own result: {got}")
        said = server.said()
    check("rror" not in str(got["said"]), f"{got}")
    frames = [one for one in records(work / "saved.tf") if one.get("kind") == "frame"]
    return got, frames, said


def it_writes_over_it(work):
    for kind in ("ftrace", "trace"):
        got, frames, said = run(work, "itself", "pass", "main", kind)
        same([int(frame["registers"]["rdi"], 16) for frame in frames], list(range(50)),
             f"hits: {got}")
        check("is a trap" not in said and "Lost" not in said, said)


def it_has_other_code_there(work):
    for kind in ("ftrace", "trace"):
        got, frames, said = run(work, "other", "pass", "main", kind)
        same([int(frame["registers"]["rdi"], 16) for frame in frames], list(range(10)),
             f"hits: {got}")
        check("Lost tracepoint" in said and "is not what it was" in said, said)


def it_loads_it_again(work):
    for alone in (False, True):
        got, frames, said = run(work, "library", "library_own", "loaded", "ftrace", alone)
        same(len(frames), 50, f"hits: {got} {said}")


def main():
    need_fast_tracepoints()
    need("gdb")
    for part in chosen((it_writes_over_it, it_has_other_code_there, it_loads_it_again)):
        with folder() as work:
            part(work)


main()
