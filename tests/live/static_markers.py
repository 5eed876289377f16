#!/usr/bin/env python3
# timeout: 120
"""Static tracepoints by stock GDB: `info static-tracepoint-markers`, `strace`, `$_sdata` at USDT
probes and at trace hooks; the semaphore of a probe is raised while somebody traces it, and for
nobody else.

GDB 13 assigns to a string of a tracepoint that it has not constructed yet, so that every `strace`
crashes it. Memory that is all zeros makes `strace -m` go well."""

import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from replay_common import TRACEWELL, check, folder, gdb, need, same  # noqa: E402
from serve_common import on_port  # noqa: E402
from trace_common import INFERIORS, records  # noqa: E402

ROUNDS = 5
ZEROED = "glibc.malloc.perturb=255:glibc.malloc.tcache_count=0"  # memory, when it is allocated


def in_gdb(work, script, program):
    os.environ["GLIBC_TUNABLES"] = ZEROED
    try:
        return gdb(work, script, INFERIORS / program)
    finally:
        del os.environ["GLIBC_TUNABLES"]


def shown(sdata):
    """What GDB prints of `$_sdata`: $1 = "…"."""
    return sdata.split('"')[1]


def at_probes(work):
    script = """
    run("set print repeats unlimited")
    run("target extended-remote %(remote)s")
    run("break closed")
    markers = run("info static-tracepoint-markers")
    made = run("strace -m shop:order")
    open(%(definitions)r, "w").write("actions 2\\ncollect $_sdata, $regs\\nend\\n")
    run("source %(definitions)s")
    begun = run("tstart")
    raised = int(gdb.parse_and_eval("shop_order_semaphore"))
    run("continue")
    run("tstop")
    lowered = int(gdb.parse_and_eval("shop_order_semaphore"))
    frames = []
    run("tfind start")
    while int(gdb.parse_and_eval("$trace_frame")) >= 0:
        frames.append(run("p $_sdata"))
        run("tfind")
    run("tsave %(file)s")
    run("delete 1")
    ended = run("continue")
    result([markers, made, begun, raised, lowered, frames, ended])
    """
    with on_port(INFERIORS / "probes", str(ROUNDS)) as server:
        got = in_gdb(work, script % {
            "remote": server.remote, "definitions": str(work / "definitions"),
            "file": work / "saved.tf"}, "probes")
        server.wait_for(rf"wanted ({ROUNDS}) of {ROUNDS}, 0 now")
    markers, made, begun, raised, lowered, frames, ended = got
    check("shop:order" in markers and "shop:closed" in markers, f"markers: {markers}")
    check('Data: "-4@%' in markers and '8@symbol(%rip)"' in markers, f"arguments: {markers}")
    check("Static tracepoint 2" in made, f"strace: {made}")
    check("error" not in begun, begun)
    same([raised, lowered], [1, 0], "the semaphore, while it is traced and then")
    same(len(frames), ROUNDS, "frames")
    for i, sdata in enumerate(frames):
        words = dict(word.split("=") for word in shown(sdata).split())
        check(words.pop("arg1").startswith("0x7ff"), f"a pointer to the stack: {sdata}")
        same(words, {"arg0": str(-i), "arg2": hex(200 + i), "arg3": "-3", "arg4": "0x4d",
                     "arg5": "?"}, f"$_sdata of {i}")
    saved = [frame for frame in records(work / "saved.tf") if frame.get("kind") == "frame"]
    same(len(saved), ROUNDS, "frames in the file")


def at_hooks(work):
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(work), "XDG_STATE_HOME": str(work)}
    subprocess.run([TRACEWELL, "trace", "-a", "-o", work / "log"], env=environment, check=True)
    script = """
    run("set print repeats unlimited")
    run("target extended-remote %(remote)s")
    run("break main")
    run("continue")
    markers = run("info static-tracepoint-markers")
    made = run("strace -m tracewell:TRCHKL2")
    open(%(definitions)r, "w").write("actions 2\\ncollect $_sdata\\nend\\n")
    run("source %(definitions)s")
    begun = run("tstart")
    run("break exit")
    run("continue")
    run("tstop")
    frames = []
    run("tfind start")
    while int(gdb.parse_and_eval("$trace_frame")) >= 0:
        frames.append(run("p $_sdata"))
        run("tfind")
    result([markers, made, begun, frames])
    """
    try:
        with on_port(INFERIORS / "hook_calls", str(ROUNDS), env=environment) as server:
            got = in_gdb(work, script % {"remote": server.remote,
                                         "definitions": str(work / "definitions")}, "hook_calls")
    finally:
        subprocess.run([TRACEWELL, "trcstop"], env=environment, check=True)
    markers, made, begun, frames = got
    check("tracewell:TRCHKL2" in markers and "tracewell:TRCHKL0" in markers, f"markers: {markers}")
    check("Static tracepoint 2" in made, f"strace: {made}")
    check("error" not in begun, begun)
    same([shown(one) for one in frames],
         [f"hkwd=0x1000002 d1={hex(0x1000 + i)} d2={hex(-i % 2**64)}" for i in range(ROUNDS)],
         "$_sdata of the hooks")


def main():
    need("gdb")
    with folder() as work:
        at_probes(work)
        at_hooks(work)


main()
