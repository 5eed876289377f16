#!/usr/bin/env bash
# tracewell diff: a difference whose cause is in an earlier one.
. "$(dirname "$0")/common.sh"

# run NUMBER: reads NUMBER from memory twice, and goes another way each time when it is not 5; the
# first of these increments rdx, which is looked at then.
run() {
  python3 - "$1" <<'PYTHON'
import json, sys
number, pc = int(sys.argv[1]), 0x1000
same = number == 5
print('{"catalog":{"machine":"x86-64"}}')
def step(code, **more):
    global pc
    print(json.dumps({"kind": "step", "tid": 1, "pc": hex(pc), "opcode": code, **more}))
    pc += len(code) // 2
def read():
    return [{"addr": "0x7000", "size": 8, "access": "read", "old": f"{number:02x}" + "00" * 7}]
def decide(compare, own):
    global pc
    step(compare, registers={"eflags": "0x246" if same else "0x202"})
    step("7404")
    if same:
        pc += 4
    else:
        for code, registers in own:
            step(code, registers=registers)
    for _ in range(30):
        step("90")
step("90", before={"rsi": "0x7000", "rax": "0x0", "rbx": "0x0", "rdx": "0x0", "eflags": "0x202"})
step("488b06", registers={"rax": hex(number)}, memory=read())
decide("4883f805", [("48ffc2", {"rdx": "0x1"}), ("90", {})])
step("488b1e", registers={"rbx": hex(number)}, memory=read())
decide("4883fb05", [("90", {})] * 4)
decide("4883fa00", [("90", {})] * 4)
PYTHON
}
run 5 >"$work/a.jsonl"
run 6 >"$work/b.jsonl"
expect 1 diff "$work/a.jsonl" "$work/b.jsonl"
has '  1. the runs part, after step 3'
has '  3. the runs part, after'
has 'because memory at 0x7000 = 0x5 | 0x6, read by step 34'
has '; since before what was looked at, as in difference 1'
has 'because $rdx = 0x0 | 0x1, read by step'
has '; since step 4 at 0x100a (inc rdx) of B alone, in difference 1'
expect 1 diff --json "$work/a.jsonl" "$work/b.jsonl"
python3 - "$work/out" <<'PYTHON' || fail 'diff --json'
import json, sys
first, second, third = json.load(open(sys.argv[1]))["threads"][0]["differences"]
assert not any("earlier" in cause for cause in first["causes"]), first
cause = second["causes"][-1]
assert cause["earlier"]["difference"] == 0, cause
assert first["causes"][cause["earlier"]["cause"]]["a"]["value"] == cause["a"]["value"], cause
cause = third["causes"][-1]
assert cause["register"] == "rdx" and cause["earlier"] == {"difference": 0, "cause": None}, cause
assert cause["a"]["since"] is None and cause["b"]["since"]["step"] == 4, cause
PYTHON
# Where no difference refers to another, they have no numbers.
expect 1 diff --ignore-values "$work/a.jsonl" "$work/b.jsonl"
has '  the runs part, after step 3'
finish
