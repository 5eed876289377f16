#!/bin/bash
# timeout: 60
# What is no trace is not read to its end, which it may not have; what is one may come from a pipe.
set -euo pipefail
tracewell=$TRACEWELL_BIN/tracewell
# AddressSanitizer reserves far more address space than any limit that would mean something.
limit=2000000
if grep -q __asan_init "$tracewell"; then limit=unlimited; fi
status=0
(ulimit -v "$limit"; timeout 30 "$tracewell" info /dev/zero) 2> /dev/null || status=$?
[ "$status" = 3 ] || { echo "info /dev/zero: $status"; exit 1; }
status=0
yes tracewell | (ulimit -v "$limit"; timeout 30 "$tracewell" check -) 2> /dev/null || status=$?
[ "$status" = 3 ] || { echo "check of an endless pipe: $status"; exit 1; }
trace=$TRACEWELL_SOURCE/tests/formats/tfile/no-count/input.tf
"$tracewell" print --format jsonl - < "$trace" > whole.$$
cat "$trace" | "$tracewell" print --format jsonl - > piped.$$
cmp whole.$$ piped.$$
rm whole.$$ piped.$$
