#!/usr/bin/env bash
# tracewell calls: the tree of calls.
. "$(dirname "$0")/common.sh"

# Thread 7 calls 0x2000, which calls 0x3000 and comes back; thread 8 calls in between, for good.
python3 - >"$work/calls.jsonl" <<'PYTHON'
import json
print('{"catalog":{"machine":"x86-64"}}')
for tid, pc, opcode in [(7, 0x1000, "e8fb0f0000"), (7, 0x2000, "e8fb0f0000"), (7, 0x3000, "c3"),
                        (8, 0x5000, "e8fb0f0000"), (8, 0x6000, "90"), (7, 0x2005, "c3"),
                        (7, 0x1005, "90")]:
    print(json.dumps({"kind": "step", "tid": tid, "pc": hex(pc), "opcode": opcode}))
PYTHON
expect 0 calls "$work/calls.jsonl"
cmp - "$work/out" <<'TEXT' || fail 'calls'
0x2000  steps 1 to 5  thread 7  from 0x1000  call 0x2000
  0x3000  steps 2 to 4  thread 7  from 0x2000  call 0x3000
0x6000  steps 4 to 4, no return  thread 8  from 0x5000  call 0x6000
TEXT
expect 0 calls "$work/calls.jsonl" --json --thread 7 --depth 0
tr -d '\n' <<'TEXT' | cmp - <(tr -d '\n' <"$work/out") || fail 'calls --json'
{"first":1,"last":5,"tid":7,"function":"0x2000","back":"0x1005","depth":0,"returned":true,
"call":{"step":0,"tid":7,"pc":"0x1000","opcode":"e8fb0f0000","disassembly":"call 0x2000"}}
TEXT
# A call that was stepped over is nobody's frame, here and in folded stacks.
sed 's/"pc": "0x3000"/"pc": "0x2005"/; s/"opcode": "c3"}/"opcode": "90"}/' "$work/calls.jsonl" \
  >"$work/over.jsonl"
expect 0 calls "$work/over.jsonl"
cmp - "$work/out" <<'TEXT' || fail 'calls: stepped over'
0x2000  steps 1 to 6, no return  thread 7  from 0x1000  call 0x2000
0x6000  steps 4 to 4, no return  thread 8  from 0x5000  call 0x6000
TEXT
expect 0 convert "$work/over.jsonl" - --format folded
if grep -q ';0x2005' "$work/out"; then fail 'folded: stepped over'; fi
expect 0 calls "$work/calls.jsonl" --from 2 --to 3
lines 1
expect 0 calls "$work/calls.jsonl" --limit 2
lines 2
expect 1 calls "$work/calls.jsonl" --from 5
has 'none of the calls in this trace (3) is at step 5 or behind it' err
expect 2 calls "$work/calls.jsonl" --thread 9
expect 3 calls "$cases/tfile/gdb-tsave/input.tf"
expect 2 calls
finish
