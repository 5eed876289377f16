#!/usr/bin/env bash
# tracewell hits: how often instructions and blocks were executed.
. "$(dirname "$0")/common.sh"

# A loop of three instructions, four times, then one more.
python3 - >"$work/loop.jsonl" <<'PYTHON'
import json
print('{"catalog":{"machine":"x86-64"}}')
def step(pc, opcode):
    print(json.dumps({"kind": "step", "tid": 7, "pc": hex(pc), "opcode": opcode}))
for i in range(4):
    step(0x1000, "90")
    step(0x1001, "4889c0")
    step(0x1004, "75fa" if i < 3 else "75fa")
step(0x1006, "90")
PYTHON
expect 0 hits "$work/loop.jsonl"
printf '%12s  %s  %s\n' 4 0x1000 nop 4 0x1001 'mov rax, rax' 4 0x1004 'jnz 0x1000' \
  1 0x1006 nop | cmp - "$work/out" || fail 'hits'
expect 0 hits "$work/loop.jsonl" --blocks
has '           4  0x1000  3 instructions, 6 bytes'
has '           1  0x1006  1 instruction, 1 byte'
lines 2
expect 0 hits "$work/loop.jsonl" --blocks --json --limit 1
has '{"addr":"0x1000","count":4,"size":6,"instructions":3,"disassembly":"nop"}'
lines 1
file=$TRACEWELL_SOURCE/tests/cli/steps.jsonl
expect 0 hits "$file" --by-address --json
python3 - "$work/out" "$file" <<'PYTHON' || fail 'hits --by-address'
import collections, json, sys
counts = collections.Counter(int(step['pc'], 16) for step in map(json.loads, open(sys.argv[2]))
                             if step.get('kind') == 'step')
hits = [json.loads(line) for line in open(sys.argv[1])]
assert [(int(hit['addr'], 16), hit['count']) for hit in hits] == sorted(counts.items()), hits
PYTHON
echo '{"catalog":{"machine":"x86-64"}}' >"$work/empty.jsonl"
expect 1 hits "$work/empty.jsonl"
has 'the trace has no steps' err
expect 3 hits "$cases/tfile/gdb-tsave/input.tf"
expect 2 hits
expect 2 hits "$file" --limit many
finish
