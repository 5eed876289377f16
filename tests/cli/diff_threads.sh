#!/usr/bin/env bash
# tracewell diff: a cause in memory that another thread wrote.
. "$(dirname "$0")/common.sh"

# run VALUE: thread 2 stores it at 0x7000; thread 1 reads it, and goes one way or the other.
run() {
  cat <<EOF
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":1,"pc":"0x1000","opcode":"90"}
{"kind":"step","tid":2,"pc":"0x2000","opcode":"880c2500700000","memory":[\
{"addr":"0x7000","size":1,"access":"write","old":"07","new":"0$1"}]}
{"kind":"step","tid":1,"pc":"0x1001","opcode":"803c250070000000","memory":[\
{"addr":"0x7000","size":1,"access":"read","old":"0$1"}]}
{"kind":"step","tid":1,"pc":"0x1009","opcode":"7410"}
{"kind":"step","tid":1,"pc":"0x$2","opcode":"90"}
EOF
}
run 0 101b >"$work/a.jsonl"
run 1 100b >"$work/b.jsonl"
expect 1 diff "$work/a.jsonl" "$work/b.jsonl"
has 'because memory at 0x7000 = 0x0 | 0x1, read by step 2 at 0x1001'
has '; since step 1 at 0x2000 (mov byte ptr [0x7000], cl) of thread 2 | step 1 at 0x2000'
expect 1 diff "$work/a.jsonl" "$work/b.jsonl" --json
python3 - "$work/out" <<'PYTHON' || fail 'diff --json'
import json, sys
(one,) = json.load(open(sys.argv[1]))["threads"][0]["differences"]
(cause,) = [cause for cause in one["causes"] if cause["register"] is None]
assert cause["a"]["since"]["tid"] == 2 and cause["b"]["since"]["step"] == 1, cause
PYTHON
# What the thread wrote itself since then is its own.
sed 's/"opcode":"90"}$/&/; s/"tid":2/"tid":1/' "$work/a.jsonl" >"$work/own_a.jsonl"
sed 's/"tid":2/"tid":1/' "$work/b.jsonl" >"$work/own_b.jsonl"
expect 1 diff "$work/own_a.jsonl" "$work/own_b.jsonl"
has '; since step 1 at 0x2000 (mov byte ptr [0x7000], cl)'
if grep -q 'of thread' "$work/out"; then fail 'another thread where there is none'; fi
finish
