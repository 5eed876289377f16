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
  has 'there are no rings of trace hooks in ' err
  grep -q ' in it$' "$work/err" && fail 'in what?'
}
hostile notes 60000 40000
has 'the core file is damaged: 59999 of its segments of notes begin inside others' err
# 3 MB that say 6 TB: to look at all of it would take an hour.
hostile segments 60000 100000000
has 'the core file is damaged: 59999 of its segments of memory begin inside others' err
has 'the first at offset 0x0' err
# Holes that say that they are four billion headers, and 200 GB of notes.
wanted=$limit
limit=unlimited  # the file is mapped
hostile many $(((1 << 32) - 1)) $((200 << 30))
limit=$wanted
has 'program headers, from offset 0x80 on; those behind the first 2097152 are not looked at' err
has 'more than 1073741824 bytes of notes; what is behind them, from offset' err
hostile many 70000 $((1 << 20))
grep -q damaged "$work/err" && fail "70000 headers: $(cat "$work/err")"

# What is holes in a core file is written nowhere: some KB of it told of gigabytes.
written() {  # RINGS [whole]: they are put into a log, and less than a MiB goes out for that
  rm -rf "$work/log"
  python3 "$TRACEWELL_SOURCE/tests/cli/core_files.py" "$work/core" rings "$@" || fail 'no core file'
  python3 - "$tracewell" trcdead -o "$work/log" "$work/core" >"$work/out" 2>&1 <<'PYTHON' ||
import os, subprocess, sys
ran = subprocess.Popen(sys.argv[1:])
os.waitid(os.P_PID, ran.pid, os.WEXITED | os.WNOWAIT)
with open(f"/proc/{ran.pid}/io") as file:  # it has ended, and says still what it did
    written = int(next(line for line in file if line.startswith("wchar:")).split()[1])
assert ran.wait() == 0, ran.returncode
assert written < 1 << 20, written
PYTHON
    fail "trcdead of a core file of rings $*: $(tail -1 "$work/out")"
}
written 3
has ' of 3 rings'
written 1 whole
has ' of 1 ring'
# The log has all packets, and nothing behind their heads: zeros are no records.
bytes=$(find "$work/log" -name '99999-*' -printf '%s\n' | awk '{sum += $1} END {print sum}')
[ "$bytes" = $((64 * 152)) ] || fail "the log: $(ls -l "$work/log")"

# Many rings of a program that seems to be in the middle of a record for ever: they are waited for
# together, and nobody waits for root's control file meanwhile.
rm -rf "$work/log"
python3 "$TRACEWELL_SOURCE/tests/cli/core_files.py" "$work/core" busy 400 $$ || fail 'no core file'
timeout 20 "$tracewell" trcdead -o "$work/log" "$work/core" >"$work/out" 2>"$work/err" ||
  fail "trcdead of busy rings: $?: $(head -2 "$work/err")"
has ' of 400 rings'

# A core file that is all holes has no rings in them.
python3 "$TRACEWELL_SOURCE/tests/cli/core_files.py" "$work/core" segments 1 $((64 << 30)) ||
  fail 'no core file'
timeout 20 "$tracewell" trcdead -o "$work/log2" "$work/core" >"$work/out" 2>"$work/err"
got=$?
[ $got = 1 ] || fail "trcdead of holes: $got, not 1: $(head -2 "$work/err")"
has 'there are no rings of trace hooks in ' err
finish
