#!/usr/bin/env python3
# skips
# timeout: 240
"""Fast tracepoints by stock GDB, against the same ones as traps: every hit of every thread leaves
its frame, with the same in it; where memory cannot be read; in a program that is attached to while
it runs, and runs on when GDB has gone, its code as it was."""

import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from replay_common import TRACEWELL, check, folder, gdb, need, same  # noqa: E402
from serve_common import on_port  # noqa: E402
from trace_common import INFERIORS, line_of, need_fast_tracepoints, records  # noqa: E402

ROUNDS = 400
STORM = """
%(kind)s inner
actions
collect n
end
%(kind)s hit_storm.c:%(outer)d
actions
collect $regs, n
end
%(kind)s hit_storm.c:%(after)d if n %% 10 == 3
actions
collect result, $rip
end
break _exit
"""
RUN = """
run("target extended-remote %(remote)s")
run("set trace-buffer-size 60000000")
said = [run("source %(definitions)s"), run("tstart"), run("continue"), run("tstop")]
result({"said": said, "status": run("tstatus"), "points": run("info tracepoints"),
        "saved": run("tsave %(file)s"), "end": run("continue"),
        "code": run("output $_exitcode")})
"""


def run(work, kind, program, arguments, definitions):
    """What GDB says, the frames, and what the server says."""
    (work / "definitions").write_text(definitions)
    environment = {**os.environ, "LD_BIND_NOW": "1"}
    environment.pop("TRACEWELL_FAST", None)  # it would move the program's stack
    with on_port(INFERIORS / program, *(str(one) for one in arguments),
                 env=environment) as server:
        got = gdb(work, RUN % {"remote": server.remote, "file": work / "saved.tf",
                               "definitions": work / "definitions"}, INFERIORS / program)
        said = server.said()
    same(got["code"], "0", "the program's own result " + got["end"])
    check("is a trap" not in said and "are traps" not in said, f"{kind}: {said}")
    frames = [one for one in records(work / "saved.tf") if one.get("kind") == "frame"]
    return got, frames


def word(frame, index):
    return int.from_bytes(bytes.fromhex(frame["memory"][index]["bytes"]), "little")


def by_thread(frames):
    """Frames of each tracepoint and each thread, in order. Threads are told apart by their stacks,
    which are the same in each run."""
    out = {}
    for frame in frames:
        registers = dict(frame.get("registers", {}))
        if frame["tracepoint"] == 2:
            thread = registers.pop("fs_base")
            out.setdefault(thread, []).append((word(frame, 0), registers, frame["pc"]))
    return out


def storm(work):
    found = {}
    for kind, fast in (("trace", "none"), ("trace", "all"), ("ftrace", "asked")):
        os.environ["TRACEWELL_FAST"] = fast
        places = {mark: line_of("hit_storm.c", mark) for mark in ("outer", "after")}
        got, frames = run(work, kind, "hit_storm", [ROUNDS], STORM % {"kind": kind, **places})
        hits = re.findall(r"tracepoint already hit (\d+) time", got["points"])
        same(hits, [str(4 * ROUNDS), str(4 * ROUNDS), str(4 * ROUNDS // 10)], got["points"])
        same(len(frames), 8 * ROUNDS + 4 * ROUNDS // 10, "frames")
        for thread, own in by_thread(frames).items():
            same([n for n, _, _ in own], list(range(ROUNDS)), f"n in thread {thread}")
        inner = sorted(word(frame, 0) for frame in frames if frame["tracepoint"] == 1)
        same(inner, sorted(4 * list(range(ROUNDS))), "n in inner")
        found[fast] = by_thread(frames)
    for how in ("all", "asked"):
        same(sorted(found[how]), sorted(found["none"]), "threads")
        for thread, own in found[how].items():
            for fast, trap in zip(own, found["none"][thread]):
                same(fast, trap, "a frame's registers")


PASSED = """
ftrace pass
actions
collect $regs
%(more)send
break finished
"""


def passed(work, what, often, more="", definitions=PASSED):
    """GDB's words and the frames of a run of the program `fast`."""
    return run(work, "ftrace", "fast", [what, often], definitions % {"more": more})


def first_argument(frame):
    return int(frame["registers"]["rdi"], 16)


def at_the_edge(work):
    """What can be read is kept, and the run ends with the address that could not be."""
    got, frames = passed(work, "edge", 1, "collect *text@64\n")
    check("memory access error" in got["status"], got["status"])
    (frame,) = frames
    block = frame["memory"][-1]
    same([block["addr"], bytes.fromhex(block["bytes"])],
         [frame["registers"]["rsi"], b"x" * 24], "what could be read")
    check(hex(int(frame["registers"]["rsi"], 16) + 24) in got["status"], got["status"])


def while_it_faults(work):
    """The run ends, by itself, while a thread is in the middle of the next fault."""
    for _ in range(8):
        got, frames = passed(work, "edge", 20000, "collect *text@64\n")
        check("memory access error" in got["status"], got["status"])
        check(frames, "no frame")


def in_handlers(work):
    """A handler's hits are in between those of what it interrupts; none is missing."""
    got, frames = passed(work, "signals", 200, definitions=PASSED.replace("pass", "*pass", 1))
    main = [first_argument(frame) for frame in frames if first_argument(frame) < 1000000]
    handler = [first_argument(frame) for frame in frames if first_argument(frame) >= 1000000]
    same(handler, list(range(1000000, 1000000 + len(handler))), "hits of the handler")
    same(main, list(range(len(main))), "hits of what it interrupts")
    check(len(main) > 20 and len(handler) >= 200, f"{len(main)} and {len(handler)} hits")


def of_many_threads(work):
    """More threads than there are rings, one after the other, each with its own id."""
    got, frames = passed(work, "churn", 150)
    same(len(frames), 150 * 4 * 10, "frames")
    counts = {}
    for frame in frames:
        counts[first_argument(frame)] = counts.get(first_argument(frame), 0) + 1
    same(set(counts.values()), {10}, "hits of a thread")


AGAIN = """
run("target extended-remote %(remote)s")
said = [run("set trace-buffer-size 20000"), run("source %(definitions)s"), run("tstart"),
        run("continue"), run("tstatus")]
again = [run(one) for one in ("tstart", "continue", "tstatus", "tstart", "tstatus")]
result([said, again, run("continue"), run("output $_exitcode")])
"""


def runs_again(work):
    """A run that ended while threads ran, and one that begins as soon as they stand still."""
    (work / "definitions").write_text(
        "ftrace pass\nactions\ncollect $rdi\nend\nbreak fast.c:%d\nbreak finished\n"
        % line_of("fast.c", "joined"))
    with on_port(INFERIORS / "fast", "churn", "60") as server:
        said, again, end, code = gdb(work, AGAIN % {
            "remote": server.remote, "definitions": work / "definitions"}, INFERIORS / "fast")
        notices = server.said()
    check("buffer full" in said[-1] or "full" in said[-1], f"{said}")
    check("rror" not in str(again), f"{again}")
    check("running on the target" in again[-1], f"{again}")
    same(code, "0", "the program's own result " + end)
    check("is a trap" not in notices and "are traps" not in notices, notices)


ATTACHED = """
import os, signal, threading
run("target extended-remote %(remote)s")
run("handle SIGUSR1 stop nopass")
said, created, flags = [], [], []
for turn in range(4):
    said.append(run("attach %(process)d"))
    run("delete")
    said.append(run("ftrace pass if n == 3"))
    said.append(run("ftrace fast.c:%(compute)d"))
    run("set circular-trace-buffer on")
    said.append(run("tstart"))
    for stop in range(4):
        threading.Timer(0.1, os.kill, (%(process)d, signal.SIGUSR1)).start()
        said += [run("continue"), run("info program")]
        for step in range(15):
            said += [run("stepi"), run("info symbol $pc")]
    created.append(run("tstatus"))
    maps = open("/proc/%(process)d/smaps").read()
    flags.append(maps[maps.index("memfd:tracewell"):].split("VmFlags:")[1].split(chr(10))[0])
    if turn == 3:
        said += [run("tbreak pass"), run("continue")]
    said.append(run("tstop") if turn %% 2 else "")
    said.append(run("detach"))
result([said, created, flags])
"""


def attached(work):
    """To a program at work, by turns; threads are stepped through pads, and GDB leaves with or
    without a tstop. The program goes on, computes what it should, and has its own code."""
    program = subprocess.Popen([INFERIORS / "fast", "work"], stdout=subprocess.PIPE, text=True)
    try:
        same(program.stdout.readline(), "at work\n", "the program")
        with on_port(options=("--multi",)) as server:
            said, created, flags = gdb(work, ATTACHED % {
                "remote": server.remote, "process": program.pid,
                "compute": line_of("fast.c", "compute")}, INFERIORS / "fast")
            notices = server.said()
        for text in said:
            check("rror" not in text and "annot" not in text and "No symbol" not in text and
                  "SIG" not in text.replace("SIGUSR1", ""), text)
        same(str(said).count("stopped with signal SIGUSR1"), 16, "stops by the signal")
        for words in flags:
            check("dd" in words.split(), f"not kept out of core files: {words}")
        for text in created:
            check(int(re.search(r"of (\d+) created", text).group(1)) > 1000, text)
        check("is a trap" not in notices and "are traps" not in notices, notices)
    finally:
        program.terminate()
        status = program.wait(timeout=60)
    same(status, 0, "the program's own result")


def main():
    need_fast_tracepoints()
    need("gdb")
    for part in chosen((storm, at_the_edge, while_it_faults, in_handlers, of_many_threads,
                        runs_again, attached)):
        with folder() as work:
            part(work)


main()
