#!/usr/bin/env python3
# skips
# timeout: 300
# labels: answers
"""Ids of processes and threads that are used again: each hook that was made is in the log, or
counted as lost, and stands under the process that made it. TRACEWELL_ROUNDS=20 for a long run."""

import collections
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

TRACEWELL = pathlib.Path(os.environ["TRACEWELL_BIN"]) / "tracewell"
INFERIORS = pathlib.Path(os.environ["TRACEWELL_BIN"]) / "../inferiors"
ROUNDS = int(os.environ.get("TRACEWELL_ROUNDS", "1"))
PROCESSES = (500 if os.environ.get("TRACEWELL_SANITIZED") else 2000) * ROUNDS
IDS = 12


def inside(work, log, options):
    """In a pid namespace of its own, where few ids are in use. One of a process that was killed in
    the page fault of its first write to a ring has left a file without a head."""
    script = f"""
        {TRACEWELL} trace -a -T 32k -o {log} {options} || exit 1
        head -c 4096 /dev/zero >{log}/.rings/200-0 && truncate -s 36864 {log}/.rings/200-0
        {INFERIORS}/hook_ids {PROCESSES} {IDS} {work}/counts {log}/.rings || exit 2
        {TRACEWELL} trcstop || exit 3"""
    return subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "bash", "-c", script],
                          check=False).returncode


def read_counts(work):
    """By number: process id, hooks begun, hooks done."""
    rows = struct.iter_unpack("<3Q", (work / "counts").read_bytes())
    return {number: row for number, row in enumerate(rows) if row[0]}


def read_log(log):
    """Hooks by number of the process; of each the processes that the log names; how many are lost;
    is there a loss that nobody counted?"""
    made = collections.defaultdict(list)
    named = collections.defaultdict(set)
    lost = 0
    uncounted = False
    text = subprocess.run([TRACEWELL, "print", "--format", "jsonl", log], check=True,
                          capture_output=True, text=True).stdout
    catalog = {}
    for line in text.splitlines():
        event = json.loads(line)
        if "catalog" in event:
            catalog = dict(event["catalog"]["extras"])
        elif event["kind"] == "hook":
            number = int(event["words"][0], 16)
            made[number].append(int(event["words"][-1], 16))
            thread = catalog.get(f"hooklog.thread.{event['tid']}", 0)
            named[number].add(event.get("pid", int(thread)))
        elif event["kind"] == "lost":
            lost += event["count"] or 0
            uncounted |= not event["count"]
        else:
            told = re.match(r"LOGFILE WRAPAROUND, (\d+) records|(\d+) records lost", event["text"])
            lost += int(told[1] or told[2]) if told else 0
    return made, named, lost, uncounted


def read_followed(log):
    """The same, as who follows the log sees it: the processes that each one's hooks stand under,
    and how many hooks there are."""
    named = collections.defaultdict(set)
    there = 0
    text = subprocess.run([TRACEWELL, "report", "--follow", "--format", "jsonl", log], check=True,
                          capture_output=True, text=True).stdout
    for line in text.splitlines():
        row = json.loads(line)
        if row["id"] == "0100":
            named[int(row["fields"]["D1"], 16)].add(row["pid"])
            there += 1
    return named, there


def check(limited, options):
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        os.environ["XDG_RUNTIME_DIR"] = os.environ["XDG_STATE_HOME"] = name
        log = work / "log"
        status = inside(work, log, options)
        counts = read_counts(work)
        made, named, lost, uncounted = read_log(log)
        followed, follow_count = read_followed(log)
    begun = sum(row[1] for row in counts.values())
    done = sum(row[2] for row in counts.values())
    there = sum(map(len, made.values()))
    ids = len({row[0] for row in counts.values()})
    print(f"{len(counts)} processes of {ids} ids made {done} hooks: {there} in the log, "
          f"{lost} lost")
    wrong = [number for number in made if named[number] != {counts[number][0]}]
    wrong_followed = [number for number in followed if followed[number] != {counts[number][0]}]
    failed = [
        f"report --follow has {follow_count} hooks" if follow_count != there else "",
        f"{len(wrong_followed)} processes' hooks stand under others with --follow"
        if wrong_followed else "",
        f"status {status}" if status else "",
        f"{done} to {begun} were made" if not done <= there + lost <= begun else "",
        f"{len(wrong)} processes' hooks stand under others" if wrong else "",
        "some hooks are there twice"
        if any(len(ones) != len(set(ones)) for ones in made.values()) else "",
        "ids were not used again" if ids > len(counts) / 4 else "",
        "nothing was dropped" if limited and not lost else "",
        # Who is killed within a hook has begun it; nothing else is lost.
        "losses" if not limited and (lost > begun - done or uncounted) else "",
    ]
    return [text for text in failed if text]


def check_killed_while_beginning():
    """Who is killed while it writes the program's name into a new ring has lost its one hook: the
    name's letters are no records."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_RUNTIME_DIR"] = os.environ["XDG_STATE_HOME"] = name
        log = pathlib.Path(name) / "log"
        subprocess.run([TRACEWELL, "trace", "-a", "-o", log], check=True)
        status = subprocess.run([INFERIORS / "hook_begins"], check=False).returncode
        subprocess.run([TRACEWELL, "trcstop"], check=True)
        made, _, lost, uncounted = read_log(log)
    told = (status, dict(made), lost, uncounted)
    return [] if told == (0, {}, 1, False) else [f"killed while it began: {told}"]


COMPONENT = """
#include <sys/ras_trace.h>
int main(int argc, char **argv) {
  ras_block_t one = tracewell_component_register(argv[argc - 1], 0, 0);
  CT_HOOK1(one, 0, MT_PRIV, 0x01000000, 7);
  return 0;
}
"""


def check_components():
    """What a process has left in the buffers of its components stays when its id is used again."""
    include = pathlib.Path(os.environ["TRACEWELL_SOURCE"]) / "include"
    failed = []
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        os.environ["XDG_RUNTIME_DIR"] = os.environ["XDG_STATE_HOME"] = name
        os.environ["TRACEWELL_COMPONENTS"] = f"{work}/rules"
        (work / "rules").write_text("c part.* memory=1\n")
        (work / "part.c").write_text(COMPONENT)
        subprocess.run(["cc", f"-I{include}", f"-I{include}/tracewell/aix", "-o", work / "part",
                        work / "part.c", INFERIORS / "../lib/librts.a"], check=True)
        script = f"""
            echo 300 >/proc/sys/kernel/ns_last_pid; {work}/part part.one
            echo 300 >/proc/sys/kernel/ns_last_pid; {work}/part part.two
            {TRACEWELL} ctctrl -D -d {work}/dumps"""
        subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "bash", "-c", script],
                       check=False, capture_output=True)
        for part in ("one", "two"):
            log = work / f"dumps/part.{part}"
            made = read_log(log)[0] if log.is_dir() else {}
            if [len(hooks) for hooks in made.values()] != [1]:
                failed.append(f"component part.{part}: {dict(made)}")
    return failed


def main():
    probe = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "bash", "-c",
                            "echo 300 >/proc/sys/kernel/ns_last_pid"],
                           check=False, capture_output=True, text=True)
    if probe.returncode:
        print(f"skipped: a namespace of process ids is root's to make: {probe.stderr.strip()}")
        return 0
    failed = check_killed_while_beginning() + check(False, "") + check(True, "-L 1000000")
    failed += check_components()
    for text in failed:
        print("FAILED:", text)
    return 1 if failed else 0


sys.exit(main())
