#!/usr/bin/env python3
"""JSON holds what a trace holds, and tells a terminal nothing: what a terminal would obey, and what
turns or hides text, is escaped, and reads back as it was."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unicodedata

TRACEWELL = str(pathlib.Path(os.environ["TRACEWELL_BIN"]) / "tracewell")
# CSI in one character, DEL, bidirectional marks, separators of lines, what nobody sees, and a plain
# character that takes two units of UTF-16.
EVIL = "A\x1b[31m\x9b31m\u202eB\x7fC\u2028D\u2029E\u200bF\U000e0041G\u00e4\U0001f600"
REGISTERS = [{"name": "rip", "number": 0, "size": 8}, {"name": "rsp", "size": 8},
             {"name": EVIL, "size": 8}]
CATALOG = {
    "endian": "little", "machine": "x86-64", "registers": REGISTERS,
    "status": {"running": False, "stop": "failed", "stop_text": EVIL, "notes": EVIL},
    "variables": [{"number": 1, "name": EVIL, "initial_value": 1}],
    "tracepoints": [{"number": 1, "address": "0x401000", "actions": [EVIL],
                     "sources": [{"type": "cmd", "text": EVIL}]}],
    "modules": [{"path": "/x/" + EVIL, "start": "0x400000", "size": "0x10000"}],
    "extras": [[EVIL, EVIL]]}
STEPS = [
    {"kind": "step", "tid": 1, "pc": "0x401000", "opcode": "e8fb0f0000",
     "before": {"rip": "0x401000", "rsp": "0x7000", EVIL: "0x5"}, "registers": {EVIL: "0x7"},
     "memory": [{"addr": "0x6ff8", "access": "write", "new": "0510400000000000"}]},
    {"kind": "mark", "text": EVIL},
    {"kind": "step", "tid": 1, "pc": "0x402000", "opcode": "90", "registers": {EVIL: "0x8"}},
    {"kind": "lost", "count": 5, "why": EVIL},
    {"kind": "step", "tid": 1, "pc": "0x402001", "opcode": "c3"}]
failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAILED:", what)


def run(*words, status=0):
    done = subprocess.run([TRACEWELL, *words], capture_output=True, timeout=60, check=False)
    check(done.returncode == status, f"{words}: status {done.returncode}: {done.stderr}")
    return done.stdout.decode()


def texts(value):
    """All strings in it, keys too."""
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in texts(one)]
    return [value] if isinstance(value, str) else []


def tells_nothing(out, what):
    bad = {c for c in out if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}
    check(not bad, f"{what}: {bad} in {out[:200]!r}")


def objects(out):
    try:
        return [json.loads(out)]
    except ValueError:
        return [json.loads(line) for line in out.split("\n") if line]


def tells(what, out, times=1):
    tells_nothing(out, what)
    found = sum(EVIL in text for text in texts(objects(out)))
    check(found >= times, f"{what}: the text is there {found} times, not {times}: {out[:300]!r}")


def write(path, events, catalog=CATALOG):
    lines = [{"catalog": catalog}, *events]
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))
    return str(path)


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    steps = write(work / "steps.jsonl", STEPS)
    other = write(work / "other.jsonl", [{**STEPS[0], "registers": {EVIL: "0x9"}},
                                          *STEPS[1:3], {**STEPS[4], "pc": "0x402002"}])
    frames = write(work / "frames.jsonl", [
        {"kind": "frame", "tracepoint": 1, "pc": "0x401000", "registers": {EVIL: "0x1"}},
        {"kind": "mark", "text": EVIL}, {"kind": "lost", "count": 1, "why": EVIL}])
    run("note", steps, "1", EVIL)
    for trace in (steps, frames):
        tells("print --format jsonl", run("print", "--format", "jsonl", trace), 8)
        tells("info --json", run("info", "--json", trace), 5)
        tells_nothing(run("check", "--json", trace), "check --json")
    tells("print --json", run("print", "--json", "--columns", "step,registers,note", steps), 1)
    tells("at --json", run("at", "--json", "--reg", EVIL, steps, "1"))
    tells("find --json", run("find", "--json", steps, "reg", EVIL))
    tells("note --json", run("note", "--json", steps))
    tells_nothing(run("diff", "--json", steps, other, status=1), "diff --json")
    for words in (["hits", steps], ["calls", steps], ["report", "--format", "jsonl", frames]):
        tells_nothing(run(*words, *(["--json"] if words[0] != "report" else [])), words[0])
    # A trace that was written so is the same trace.
    for trace in (steps, frames):
        again = str(work / "again.jsonl")
        run("convert", trace, again)
        tells_nothing(pathlib.Path(again).read_text(), "convert")
        first, second = (run("print", "--format", "jsonl", one) for one in (trace, again))
        check(first == second, f"{trace} is not the same behind convert")
        kept = [text for text in texts(objects(first)) if EVIL in text]
        check(kept, "nothing of it is left")
    read_back = objects(pathlib.Path(again).read_text())
    check(read_back[0]["catalog"]["registers"][2]["name"] == EVIL, "a register's name")
sys.exit(1 if failures else 0)
