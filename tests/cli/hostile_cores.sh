#!/usr/bin/env bash
# timeout: 300
# Core files whose headers say far more than is in the file: each byte is looked at once, what is
# kept is bounded, and what was left out is told.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
# AddressSanitizer reserves far more address space than any limit that would mean something.
limit=1000000
[ -z "$sanitized" ] || limit=unlimited
hostile() {  # WORDS…: the core file has no ring, and that is soon said
  python3 "$TRACEWELL_SOURCE/tests/cli/core_files.py" "$work/core" "$@" || fail 'no core file'
  (ulimit -v "$limit"; timeout 100 "$tracewell" trcdead -o "$work/log" "$work/core") \
    >"$work/out" 2>"$work/err" </dev/null
  local got=$?
  [ "$got" = 1 ] || fail "trcdead of a core file of $*: $got, not 1: $(head -2 "$work/err")"
  has 'there are no rings of trace hooks in it' err
}
hostile notes 60000 40000
has 'the core file is damaged: 59999 of its segments of notes begin inside others' err
# 3 MB that say 6 TB: to look at all of it would take an hour.
hostile segments 60000 100000000
has 'the core file is damaged: 59999 of its segments of memory begin inside others' err
has 'the first at offset 0x0' err
finish
