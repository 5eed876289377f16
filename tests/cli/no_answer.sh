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
has 'no call is in this trace' err
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
finish
