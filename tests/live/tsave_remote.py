#!/usr/bin/env python3
# timeout: 120
"""`tsave -r`: the file that the server writes holds the frames of the one that GDB writes, and the
threads and times besides. Where it may write is the server's user's business."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from trace_common import (  # noqa: E402
    INFERIORS, check, folder, gdb, line_of, need, records, same, serve)

PROGRAM = INFERIORS / "traced_threads"
SOURCE = "traced_threads.c"

RUN = """
run("target remote %(remote)s")
open("%(work)s/definition", "w").write("trace %(collect)d\\nactions\\ncollect $regs, item\\nend\\n")
run("source %(work)s/definition")
run("break finished")
run("tstart")
run("continue")
run("tstop")
said = {"local": run("tsave %(work)s/local.tf")}
for name, words in %(saves)r:
    said[name] = run(words)
result(said)
"""


def session(work, saves, *options):
    with serve("--once", *options, PROGRAM) as remote:
        words = {"remote": remote, "work": work, "collect": line_of(SOURCE, "collect"),
                 "saves": saves}
        return gdb(work, RUN % words, PROGRAM)


def frames_of(path):
    return [event for event in records(path) if event["kind"] == "frame"]


def kept_by_the_server(work, saved):
    said = session(work, [
        ("first", "tsave -r here.tf"),
        ("again", "tsave -r here.tf"),
        ("outside", "tsave -r ../outside.tf"),
        ("absolute", f"tsave -r {work}/absolute.tf"),
        ("link", "tsave -r link/x.tf"),
        ("inside", f"tsave -r {saved}/inside.tf"),
        ("no folder", "tsave -r none/x.tf"),
        ("allow", "monitor set save-overwrite 1"),
        ("over", "tsave -r here.tf"),
        ("forbid", "monitor set save-dir"),
        ("nowhere", "tsave -r there.tf"),
    ], "--save-dir", saved)
    check("error" not in said["first"] and "error" not in said["over"], str(said))
    check("exists already" in said["again"], said["again"])
    for where in ("outside", "absolute"):
        check("only names inside the save folder" in said[where], said[where])
    check("symbolic links inside the save folder are not followed" in said["link"], said["link"])
    check("error" not in said["inside"], said["inside"])
    check("No such file" in said["no folder"], said["no folder"])
    check("--save-dir" in said["nowhere"], said["nowhere"])
    same(sorted(path.name for path in saved.iterdir()), ["here.tf", "inside.tf", "link"],
         "what was written")
    check(not (work / "outside.tf").exists() and not (work / "absolute.tf").exists(), "outside")
    ours, gdbs = frames_of(saved / "here.tf"), frames_of(work / "local.tf")
    check(len(ours) > 10, f"{len(ours)} frames")
    check(all(event["tid"] and event["time_ns"] for event in ours), "threads and times")
    check(len({event["pid"] for event in ours}) == 1 and ours[0]["process"] == 1, "whose frames")
    check(all("pid" not in event for event in gdbs), "GDB saves nothing of a process")
    for event in ours + gdbs:
        for key in ("tid", "time_ns", "pid", "process"):
            event.pop(key, None)
    same(ours, gdbs, "frames")


def main():
    need("gdb")
    with folder() as work:
        saved = work / "saved"
        saved.mkdir()
        (saved / "link").symlink_to(work)
        kept_by_the_server(work, saved)
        said = session(work, [("save", "tsave -r x.tf"), ("set", f"monitor set save-dir {saved}"),
                              ("then", "tsave -r x.tf")])
        check("--save-dir" in said["save"], said["save"])
        check("error" not in said["then"] and (saved / "x.tf").exists(), said["then"])


main()
