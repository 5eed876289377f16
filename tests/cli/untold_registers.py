#!/usr/bin/env python3
# labels: answers
"""What a step left in registers, it may not tell itself ("after_known":false): its thread's next
step does. Whether a trace is JSON lines that tell so, or an x64dbg trace whose reader finds out by
itself, questions have the same answers. Random traces of up to three threads."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TRACEWELL = pathlib.Path(os.environ["TRACEWELL_BIN"]) / "tracewell"
ROUNDS = 3 if os.environ.get("TRACEWELL_SANITIZED") else 12
REGISTERS = ("rax", "rbx", "rcx")
VALUES = (1, 2, 0x1234)
# 1000 nop; 1001 call 1010; 1006 nop; 1010 nop; 1011 ret
CODE = {0x1000: ("90", 0x1001), 0x1001: ("e80a000000", 0x1010), 0x1006: ("90", 0x1000),
        0x1010: ("90", 0x1011), 0x1011: ("c3", 0x1006)}


def trace(chance):
    """Each step tells of some registers what it left, of the others nothing."""
    threads = {tid: {"pc": 0x1000, "now": {}} for tid in range(1, chance.randint(1, 3) + 1)}
    lines = [{"catalog": {"endian": "little", "machine": "x86-64"}}]
    told = {tid: {} for tid in threads}
    tid = 1
    for _ in range(chance.randint(10, 60)):
        if chance.random() < 0.3:
            tid = chance.choice(list(threads))
        thread = threads[tid]
        opcode, after = CODE[thread["pc"]]
        now = thread["now"]
        if not now:
            now.update({name: chance.choice(VALUES) for name in REGISTERS})
            now["rsp"] = 0x8000 * tid
        now["rip"] = thread["pc"]
        before = {name: hex(value) for name, value in now.items()
                  if told[tid].get(name) != value}
        told[tid].update(now)
        changed = {name: chance.choice([value for value in VALUES if value != now[name]])
                   for name in REGISTERS if chance.random() < 0.3}
        changed["rip"] = after
        if opcode == "c3" or opcode.startswith("e8"):
            changed["rsp"] = now["rsp"] + (8 if opcode == "c3" else -8)
        tells = {name: value for name, value in changed.items() if chance.random() < 0.3}
        now.update(changed)
        told[tid].update(tells)
        lines.append({"kind": "step", "tid": tid, "pc": hex(thread["pc"]), "opcode": opcode,
                      "before": before, "registers": {n: hex(v) for n, v in tells.items()},
                      "after_known": False})
        thread["pc"] = after
    return lines


def ask(file, *question):
    done = subprocess.run([TRACEWELL, question[0], file, *question[1:]], capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{question}: status {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def objects(file, *question):
    return [json.loads(line) for line in ask(file, *question, "--json")]


def next_steps(lines):
    """By step: its thread's next one."""
    out, last = {}, {}
    for seq, step in enumerate(lines[1:]):
        if step["tid"] in last:
            out[last[step["tid"]]] = seq
        last[step["tid"]] = seq
    return out


def held(file, value, following):
    """What find value says: "before" a step, or "after" one, is one moment of the thread's."""
    return sorted((one["register"], following.get(one["step"], -1)
                   if one["when"] == "after" else one["step"])
                  for one in objects(file, "find", "value", hex(value)) if "register" in one)


def answers(file, lines):
    following = next_steps(lines)
    ends = set(range(len(lines) - 1)) - set(following)
    out = {}
    for value in VALUES:
        out["value", value] = [one for one in held(file, value, following) if one[1] != -1]
    for name in (*REGISTERS, "al", "rsp"):
        # Of a thread's last step, JSON lines alone tell something.
        out["reg", name] = [(one["step"], one["by"], one["value"])
                            for one in objects(file, "find", "reg", name)
                            if one["step"] not in ends]
        out["where", name] = [re.match(r"step \d+", line).group(0) for line in
                              ask(file, "print", "--where", f"${name}.before == 1")
                              if line.startswith("step")]
    for seq in range(len(lines) - 1):
        out["at", seq] = [line for line in ask(file, "at", str(seq))
                          if re.match(r"  r(ax|bx|cx|sp|ip) ", line)]
    out["calls"] = ask(file, "calls")
    out["hits"] = ask(file, "hits")
    return out


def wanted_values(lines):
    """From the lines alone: when a register came to hold a value, for its thread's next step."""
    out, now = {value: [] for value in VALUES}, {}
    for seq, step in enumerate(lines[1:]):
        was = now.setdefault(step["tid"], {})
        for name, text in step["before"].items():
            if int(text, 16) in out and name in REGISTERS:
                out[int(text, 16)].append((name, seq))
        was.update(step["registers"])
    following = next_steps(lines)
    for seq, step in enumerate(lines[1:]):
        for name, text in step["registers"].items():
            if int(text, 16) in out and name in REGISTERS and seq in following:
                out[int(text, 16)].append((name, following[seq]))
    return {value: sorted(hits) for value, hits in out.items()}


def main():
    work = pathlib.Path(sys.argv[1])
    for seed in range(ROUNDS):
        lines = trace(random.Random(seed))
        given, converted = work / f"{seed}.jsonl", work / f"{seed}.trace64"
        given.write_text("".join(json.dumps(line) + "\n" for line in lines))
        subprocess.run([TRACEWELL, "convert", given, converted], check=True, capture_output=True)
        is_so, should = answers(given, lines), answers(converted, lines)
        for question, answer in should.items():
            if is_so[question] != answer:
                sys.exit(f"trace {seed}, {question}: {is_so[question]}, and of the x64dbg trace "
                         f"{answer}")
        for value, hits in wanted_values(lines).items():
            if is_so["value", value] != hits:
                sys.exit(f"trace {seed}, value {value}: {is_so['value', value]}, not {hits}")
        done = subprocess.run([TRACEWELL, "diff", given, converted], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"trace {seed}: {done.stdout}{done.stderr}")
    print("ok")


with tempfile.TemporaryDirectory() as folder:
    sys.argv[1:] = [folder]
    main()
