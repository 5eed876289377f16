#!/usr/bin/env python3
"""Stock GDB traces a PIE program with threads through `serve`: every way to collect and to find,
and the same frames again from the file that `tsave` writes."""
# timeout: 120

import pathlib
import re
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from trace_common import INFERIORS, check, folder, gdb, line_of, need, same, serve  # noqa: E402

PROGRAM = INFERIORS / "traced_threads"
SOURCE = "traced_threads.c"

DEFINITIONS = """
trace %(collect)d
actions
collect $regs, $args, $locals
collect total, table, greeting
collect *where, table[1]@2
collect $_ret
collect/s20 message, (char *)label
teval $seen = $seen + 1
collect $seen, $trace_timestamp
end
trace %(add)d if item == 7
actions
collect item, sum
end
trace %(leave)d
actions
collect sum
while-stepping 2
collect $rip, $rsp
end
end
"""

SCRIPT = """
run("target remote %(remote)s")
run("tvariable $seen = 0")
said = [run("source %(definitions)s")]
run("break finished")
said.append(run("tstart some notes"))
running = run("tstatus")
run("continue")
said.append(run("tstop the end"))
status = run("tstatus")
points = run("info tracepoints")
def frames():
    seen = []
    text = run("tfind start")
    while gdb.parse_and_eval("$trace_frame") != -1 and "error" not in text:
        seen.append([int(gdb.parse_and_eval("$tracepoint")), int(gdb.parse_and_eval("$trace_line")),
                     run("tdump")])
        text = run("tfind")
    return seen
every = frames()
finds = {}
for command in ("tfind start", "tfind tracepoint 3", "tfind none", "tfind line %(add)d",
                "tfind 5", "tfind -", "tfind pc", "tfind range work,finished",
                "tfind outside work,finished", "tfind none", "tfind outside work,finished",
                "tfind start"):
    finds[str(len(finds)) + " " + command] = [run(command), int(gdb.parse_and_eval("$trace_frame"))]
first = {name: run(name) for name in (
    "print item", "print *where", "print squares", "print total", "print table", "print greeting",
    "print message", "print $seen", "print lock", "x/2i $pc", "info registers rip", "backtrace 1",
    "output $trace_timestamp / 1000000")}
run("tfind none")
after = [run("print $seen"), run("print total")]
run("tsave %(file)s")
run("kill")
result({"said": said, "running": running, "status": status, "points": points, "frames": every,
        "finds": finds, "first": first, "after": after})
"""

REOPEN = """
run("target tfile %(file)s")
seen = []
for number in range(%(count)d):
    run("tfind " + str(number))
    seen.append([int(gdb.parse_and_eval("$tracepoint")), run("tdump")])
result({"status": run("tstatus"), "frames": seen})
"""


def check_status(live):
    check("Trace is running on the target" in live["running"], live["running"])
    status = live["status"]
    check("Trace stopped by a tstop command (the end)." in status, status)
    # 30 hits of the first, 3 of the second, 30 of the third and two steps behind each.
    check("Collected 123 trace frames." in status, status)
    check("Trace notes: some notes" in status or "some notes" in status, status)
    started = re.search(r"Trace started at (\d+)", status)
    check(started and abs(int(started.group(1)) - time.time()) < 100, status)
    check(re.search(r"stopped \d\.\d+ secs later", status), status)
    hits = re.findall(r"tracepoint already hit (\d+) time", live["points"])
    same(hits, ["30", "3", "30"], live["points"])
    for text in live["said"]:
        check("error" not in text and "rror:" not in text, text)


def check_frames(live):
    counts = {}
    for number, _, _ in live["frames"]:
        counts[number] = counts.get(number, 0) + 1
    same(counts, {1: 30, 2: 3, 3: 90}, "frames of each tracepoint")
    for _, _, dump in live["frames"]:
        check("rror" not in dump, dump)
    first = live["first"]
    same(first["print item"].split(" = ")[1].strip(), "0", "first item")
    check(re.search(r"\{x = [123]00, y = 2\}", first["print *where"]), first["print *where"])
    same(first["print squares"].split(" = ")[1].strip(), "{0, 0, 0}", "squares")
    same(first["print table"].split(" = ")[1].strip(), "{10, 20, 30, 40}", "table")
    check("hello, tracepoints" in first["print greeting"], first["print greeting"])
    check("hello, tracepoints" in first["print message"], first["print message"])
    # Three threads count in it at the same time; a frame's place is by when its hit began.
    check(1 <= int(first["print $seen"].split(" = ")[1]) <= 3, "$seen in the first frame")
    check("unavailable" in first["print lock"], first["print lock"])
    check("=> 0x" in first["x/2i $pc"] and "Cannot" not in first["x/2i $pc"], first["x/2i $pc"])
    check("work (" in first["backtrace 1"], first["backtrace 1"])
    check(int(first["output $trace_timestamp / 1000000"]) > 1_600_000_000, "Unix time")
    same(live["after"][0].split(" = ")[1].strip(), "30", "$seen at the end")


def check_finds(live):
    numbers = {name: number for name, (_, number) in live["finds"].items()}
    tracepoints = [number for number, _, _ in live["frames"]]
    same(numbers["0 tfind start"], 0, "tfind start")
    same(tracepoints[numbers["1 tfind tracepoint 3"]], 3, "tfind tracepoint 3")
    same(numbers["2 tfind none"], -1, "tfind none")
    same(live["frames"][numbers[f"3 tfind line {line_of(SOURCE, 'add')}"]][1],
         line_of(SOURCE, "add"), "tfind line")
    same(numbers["4 tfind 5"], 5, "tfind 5")
    same(numbers["5 tfind -"], 4, "tfind -")
    check(numbers["6 tfind pc"] > 4, "tfind pc goes forward")
    check(numbers["7 tfind range work,finished"] > numbers["6 tfind pc"], "tfind range")
    same(numbers["8 tfind outside work,finished"], -1, "tfind outside")
    same(numbers["11 tfind start"], 0, "tfind start again")


def main():
    need("gdb")
    with folder() as work:
        marks = {mark: line_of(SOURCE, mark) for mark in ("collect", "add", "leave")}
        definitions, trace_file = work / "definitions", work / "saved.tf"
        definitions.write_text(DEFINITIONS % marks)
        with serve("--once", PROGRAM) as remote:
            live = gdb(work, SCRIPT % {**marks, "remote": remote, "file": trace_file,
                                        "definitions": definitions}, PROGRAM)
        check_status(live)
        check_frames(live)
        check_finds(live)
        again = gdb(work, REOPEN % {"file": trace_file, "count": len(live["frames"])}, PROGRAM)
        check("Collected 123 trace frames" in again["status"], again["status"])
        same([number for number, _ in again["frames"]], [frame[0] for frame in live["frames"]],
             "tracepoints of the saved frames")


main()
