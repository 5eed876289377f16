#!/usr/bin/env bash
# find, calls, hits, print: whoever gets no answer is told why there can be none.
. "$(dirname "$0")/common.sh"
python3 "$TRACEWELL_SOURCE/examples/travel/squares.py" >"$work/run.jsonl"
run=$work/run.jsonl

for question in "find $run exec 0x401000" "calls $run" "print $run"; do
  expect 1 $question --from 46
  has '--from 46 is behind the last step, 45' err
  expect 2 $question --from 9 --to 8
  has '--from 9 is behind --to 8: nothing is between them' err
done
for question in "find $run exec 0x401000" "calls $run" "hits $run" "print $run"; do
  expect 2 $question --limit 0
  has '--limit 0 ' err
  expect 2 $question --limit few
  has '--limit: not a number: few' err
done

expect 2 calls "$run" --thread 9
has 'there is no thread 9; there are 100, 200' err
expect 2 at "$run" 3 --thread 9
has 'there is no thread 9; there are 100, 200' err
expect 1 calls "$run"
has "no call whose callee's first step is recorded" err
# The thread 7 calls once; there is no other call.
cat >"$work/calls.jsonl" <<'EOF'
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"e8fb0f0000"}
{"kind":"step","tid":7,"pc":"0x2000","opcode":"c3"}
{"kind":"step","tid":7,"pc":"0x1005","opcode":"90"}
{"kind":"step","tid":8,"pc":"0x3000","opcode":"90"}
EOF
expect 0 calls "$work/calls.jsonl" --thread 7
expect 1 calls "$work/calls.jsonl" --thread 8
has 'none of the calls in this trace (1) is of thread 8' err
expect 1 calls "$work/calls.jsonl" --from 2 --to 3
has 'is at step 2 or behind it and at step 3 or before it' err

# What can never be true is refused before the trace is read.
expect 2 print "$run" --where 'pc == "0x401000"'
has 'a number is compared with a text' err
expect 2 print "$run" --where 'symbol =~ "main"'
has 'symbols are those of --image' err
expect 2 convert "$run" "$work/out.jsonl" --where 'mnemonic == 5'
has 'a number is compared with a text' err
expect 2 print "$run" --where 'pc == 40101a'
has 'a hexadecimal one begins with 0x' err
# A word that none of the events has.
frames=$cases/tfile/gdb-tsave/input.tf
expect 1 print "$frames" --where 'read[0x7ffff75cce70] == 111'
has '; `read` is of executed instructions; this trace has frames' err
for where in 'write == 1' 'mnemonic == "ret"'; do
  expect 1 print "$frames" --where "$where"
  has "; \`${where%% *}\` is of executed instructions; this trace has frames" err
done
expect 1 print "$frames" --where 'tid == 25486'
has '; no event of this trace has a tid' err
expect 1 print "$run" --where 'id == 0x100'
has '; `id` is of hooks; this trace has executed instructions' err
expect 1 print "$run" --where 'tid == 5'
grep -q 'no event of this trace' "$work/err" && fail 'steps have threads'
for where in 'step % 3 == 0' 'rsi == 1 and rdi == 2'; do
  expect 2 print "$run" --where "$where"
  has 'expected &&, || or the end' err
done

# What a step left in a register may be told by its thread's next one alone.
cat >"$work/untold.jsonl" <<'EOF'
{"catalog":{"endian":"little","machine":"x86-64"}}
{"kind":"step","tid":1,"pc":"0x1000","opcode":"90","before":{"rax":"0x1"},"after_known":false}
{"kind":"step","tid":1,"pc":"0x1001","before":{"rax":"0x1234"},"registers":{"rax":"0x5"}}
EOF
expect 1 print "$work/untold.jsonl" --where 'rax == 0x1234'
has "; once it is not told what a step left in a register, though its thread's next step may tell \
it: ask for that one's \$….before" err
expect 0 print "$work/untold.jsonl" --where '$rax.before == 0x1234'
expect 1 print "$work/untold.jsonl" --where '$rax.before == 0x99'
grep -q 'not told' "$work/err" && fail 'what was before is told'
finish
