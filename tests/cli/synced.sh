#!/usr/bin/env bash
# Where a file is promised to be whole, it stays so when the machine stops: the file is synced
# before it gets its name, and the folder afterwards.
. "$(dirname "$0")/common.sh"
# What looks for leaks does so by ptrace itself.
[ -z "$sanitized" ] || export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
keeps() {
  python3 "$TRACEWELL_SOURCE/tests/cli/calls_that_keep.py" "$tracewell" "$@" >"$work/out" \
    2>"$work/err" </dev/null || fail "$*: exit status $?: $(head -3 "$work/err")"
  grep -xE 'name|sync file|sync folder' "$work/err" >"$work/calls"
  # The last three that concern one file; a temporary name may come before its own.
  tr '\n' ',' <"$work/calls" | grep -qE 'sync file,(name,)+sync folder,$' ||
    fail "$*: $(tr '\n' ',' <"$work/calls")"
}
cp "$TRACEWELL_SOURCE/tests/formats/data/synthetic_threads_fixed.trace64" "$work/run.trace64"
trace=$work/run.trace64
python3 "$TRACEWELL_SOURCE/tests/cli/calls_that_keep.py" true 2>/dev/null || {
  echo 'SKIPPED: ptrace is not allowed here'
  exit 0
}
for name in new.jsonl new.csv new.tenet; do
  keeps convert "$trace" "$work/$name"
  keeps convert "$trace" "$work/$name"  # what is there is replaced
done
keeps repair "$trace" "$work/repaired.trace64"
keeps at "$trace" 5  # its index
keeps note "$trace" 5 text
keeps note "$trace" 6 more
finish
