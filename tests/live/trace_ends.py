#!/usr/bin/env python3
"""How runs end, and what is left of them: seen by stock GDB."""
# timeout: 120

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from trace_common import (  # noqa: E402
    INFERIORS, TRACEWELL, check, folder, gdb, line_of, need, records, serve, wait_until_gone)

PROGRAM = INFERIORS / "traced_threads"
SOURCE = "traced_threads.c"

# One tracepoint with this line of actions; the program runs until it has finished its work.
RUN = """
run("target remote %(remote)s")
%(before)s
open("%(script)s", "w").write("trace %(collect)d\\nactions\\n%(actions)s\\nend\\n")
said = [run("source %(script)s")]
%(then)s
run("break finished")
said.append(run("tstart"))
said.append(run("continue"))
status = run("tstatus")
run("tstop")
frames = []
text = run("tfind start")
while gdb.parse_and_eval("$trace_frame") != -1:
    frames.append(run("tdump"))
    text = run("tfind")
run("tfind none")
%(after)s
result({"said": said, "status": status, "frames": frames})
"""


def one_run(work, actions, before="", then="", after=""):
    with serve("--once", PROGRAM) as remote:
        words = {"remote": remote, "actions": actions, "before": before, "then": then,
                 "after": after,
                 "collect": line_of(SOURCE, "collect"), "script": work / "definition"}
        return gdb(work, RUN % words, PROGRAM)


def error_in_an_action(work):
    got = one_run(work, "collect item\\ncollect *(int *)(item * 16)\\ncollect total")
    check("Trace stopped by an error (memory access error at 0x0, tracepoint 1)." in got["status"],
          got["status"])
    check(len(got["frames"]) == 1, f"{len(got['frames'])} frames")
    check("item = 0" in got["frames"][0] and "total = 0" in got["frames"][0], got["frames"][0])


def error_in_a_condition(work):
    got = one_run(work, "collect item", then='run("condition 1 10 / item == 5")')
    check("Trace stopped by an error (divide by zero, tracepoint 1)." in got["status"],
          got["status"])
    check(not got["frames"], "a frame without its condition")


def pass_count(work):
    got = one_run(work, "collect item", then='run("passcount 5 1")')
    check("Trace stopped by tracepoint 1." in got["status"], got["status"])
    check(len(got["frames"]) == 5, f"{len(got['frames'])} frames")


def full(work):
    got = one_run(work, "collect $regs", before='run("set trace-buffer-size 3000")')
    check("Trace stopped because the buffer was full." in got["status"], got["status"])
    check(0 < len(got["frames"]) < 30, f"{len(got['frames'])} frames")
    for frame in got["frames"]:
        check("rip " in frame and "unavailable" not in frame, "a frame that is not whole")


def ring(work):
    """Wrapped, it uploads as it reads: whole frames, the same ones, each thread's in its order."""
    saved = work / "ring.tf"
    got = one_run(work, "collect $regs, item",
                  before='run("set trace-buffer-size 4000"); run("set circular-trace-buffer on")',
                  after=f'run("tsave {saved}")')
    check("Trace is running on the target." in got["status"], got["status"])
    check("of 30 created" in got["status"], got["status"])
    check(0 < len(got["frames"]) < 30, f"{len(got['frames'])} frames")
    uploaded = records(saved)
    check(len(uploaded) == len(got["frames"]), f"{len(uploaded)} frames uploaded")
    items = {}
    for frame, dump in zip(uploaded, got["frames"]):
        (block,) = frame["memory"]
        item = int.from_bytes(bytes.fromhex(block["bytes"]), "little")
        check(f"item = {item}\n" in dump, f"{item}, and GDB shows {dump}")
        items.setdefault(frame["registers"]["fs_base"], []).append(item)
    for numbers in items.values():
        check(numbers == list(range(numbers[0], 10)), f"items of a thread: {numbers}")


EXIT = """
run("target extended-remote %(remote)s")
run("trace %(collect)d")
said = [run("tstart"), run("continue"), run("tstatus"), run("tsave %(file)s")]
result(said)
"""


def after_exit(work):
    saved = work / "after-exit.tf"
    with serve("--once", PROGRAM) as remote:
        said = gdb(work, EXIT % {"remote": remote, "collect": line_of(SOURCE, "collect"),
                                 "file": saved}, PROGRAM)
    check("Trace stopped by an error (the program exited with status" in said[2], said[2])
    check("Collected 30 trace frames" in said[2], said[2])
    check(len(records(saved)) == 30, "frames saved after the end of the process")


LEAVE = """
run("target remote %(remote)s")
run("set disconnected-tracing on")
run("trace %(collect)d")
open("%(script)s", "w").write("actions 1\\ncollect $regs, total\\nend\\n")
run("source %(script)s")
run("break finished")
result([run("tstart"), run("delete 2"), run("detach")])
"""

COME_BACK = """
run("target extended-remote %(remote)s")
result([run("tstatus"), run("tsave %(file)s")])
"""


def disconnected(work):
    """The debugger leaves, the program is traced to its end, another comes for the frames."""
    with serve(PROGRAM) as remote:
        words = {"remote": remote, "collect": line_of(SOURCE, "collect"), "script": work / "script"}
        said = gdb(work, LEAVE % words, PROGRAM)
        check("etach" in said[2], said[2])
        wait_until_gone(remote.program)
        saved = work / "disconnected.tf"
        back = gdb(work, COME_BACK % {"remote": remote, "file": saved}, PROGRAM)
    check("Trace will continue if GDB disconnects." in back[0], back[0])
    check("Collected 30 trace frames" in back[0], back[0])
    frames = records(saved)
    check(len(frames) == 30, f"{len(frames)} frames saved")
    check(all(frame["memory"] for frame in frames), "frames with what was collected")
    # Of a block whose size is not that of the machine's, the last registers would be missing.
    check(all("fs_base" in frame["registers"] for frame in frames), "frames with all registers")
    checked = subprocess.run([TRACEWELL, "check", saved], capture_output=True, text=True,
                             check=False)
    check(checked.returncode == 0, checked.stdout)


def main():
    need("gdb")
    with folder() as work:
        for scenario in (error_in_an_action, error_in_a_condition, pass_count, full, ring,
                         after_exit, disconnected):
            print(scenario.__name__, flush=True)
            scenario(work)


main()
