#!/bin/bash
# What is kept beside a trace, FILE.tidx and FILE.notes: who may have written it, who may read it,
# and whom it belongs to. docs/threat-model.md. Other users are uid 65534 and 65533.
source "$TRACEWELL_SOURCE/tests/cli/common.sh"
trace=$work/run.jsonl
index=$trace.tidx
python3 "$TRACEWELL_SOURCE/examples/travel/squares.py" >"$work/steps.jsonl" || fail 'no trace'
# Of a format whose index is kept.
expect 0 convert "$work/steps.jsonl" "$work/run.trace64"
trace=$work/run.trace64
index=$trace.tidx
mode() { stat -c %a "$1"; }

# The index holds the trace's memory: it is for whom the trace is for.
for rights in 600:600 640:640 644:644 666:644 664:644; do
  rm -f "$index" "$trace.notes"
  chmod "${rights%:*}" "$trace"
  expect 0 find "$trace" exec 0x0,0xffffffffffff --limit 1
  expect 0 note "$trace" 1 text
  [ "$(mode "$index")" = "${rights#*:}" ] || fail "index of $rights: $(mode "$index")"
  [ "$(mode "$trace.notes")" = "${rights#*:}" ] || fail "notes of $rights: $(mode "$trace.notes")"
done
expect 0 find "$trace" exec 0x0,0xffffffffffff --limit 1
[ ! -s "$work/err" ] || fail "an own index: $(cat "$work/err")"

# One that others may write to is made anew; notes are not used.
for rights in 664 646 666; do
  chmod "$rights" "$index" "$trace.notes"
  expect 0 find "$trace" exec 0x0,0xffffffffffff --limit 1
  has 'may be written by others' err
  [ "$(mode "$index")" = 644 ] || fail "not made anew: $(mode "$index")"
done
expect 1 note "$trace"
has 'its notes are not used' err
expect 2 note "$trace" 2 more
has 'may be written by others' err
chmod 644 "$trace.notes"

# What is no file: looked at, not opened.
rm "$index"
for kind in fifo link; do
  if [ "$kind" = fifo ]; then mkfifo "$index"; else ln -s "$work/elsewhere" "$index"; fi
  timeout 20 "$tracewell" find "$trace" exec 0x0,0xffffffffffff --limit 1 >"$work/out" \
    2>"$work/err" || fail "with a $kind: $(cat "$work/err")"
  lines 1
  [ ! -e "$work/elsewhere" ] || fail 'written through a link'
  rm "$index"
done

# One that its owner keeps others from opening (a lease) is not waited for.
python3 - "$index" "$tracewell" "$trace" <<'PYTHON' || fail 'with a lease'
import fcntl, os, signal, subprocess, sys
index, tracewell, trace = sys.argv[1:]
find = [tracewell, "find", trace, "exec", "0x0,0xffffffffffff", "--limit", "1"]
subprocess.run(find, check=True, capture_output=True)
signal.signal(signal.SIGIO, signal.SIG_IGN)
leased = os.open(index, os.O_RDONLY)
fcntl.fcntl(leased, fcntl.F_SETLEASE, fcntl.F_WRLCK)
ran = subprocess.run(find, capture_output=True, text=True, timeout=20)
assert ran.returncode == 0 and len(ran.stdout.splitlines()) == 1, ran
assert "Resource temporarily unavailable" in ran.stderr, ran
PYTHON

# Nothing is beside /dev/stdin.
"$tracewell" find /dev/stdin exec 0x0,0xffffffffffff --limit 1 <"$trace" >"$work/out" || fail stdin
[ ! -e /dev/stdin.tidx ] || { fail 'an index in /dev'; rm -f /dev/stdin.tidx; }

if [ "$(id -u)" = 0 ]; then
  # Somebody else's is not believed, unless the trace is theirs, too.
  expect 0 find "$trace" exec 0x0,0xffffffffffff --limit 1
  chown 65534 "$index"
  expect 0 find "$trace" exec 0x0,0xffffffffffff --limit 1
  has 'who does not own the trace; it is not used' err
  [ "$(stat -c %u "$index")" = 65534 ] || fail 'somebody else'\''s index was replaced'
  chown 65534 "$trace"
  expect 0 find "$trace" exec 0x0,0xffffffffffff --limit 1
  [ ! -s "$work/err" ] || fail "the owner's index: $(cat "$work/err")"
  # What root makes belongs to the trace's owner.
  rm "$index"
  expect 0 find "$trace" exec 0x0,0xffffffffffff --limit 1
  [ "$(stat -c %u "$index")" = 65534 ] || fail "root's index belongs to $(stat -c %u "$index")"
  # A link is no index of anybody's, whoever made it.
  mv "$index" "$work/real"
  ln -s "$work/real" "$index"
  for owner in 65533 0; do
    chown -h "$owner" "$index"
    expect 0 find "$trace" exec 0x0,0xffffffffffff --limit 1
    has 'it is no regular file; it is not used' err
  done
else
  echo 'SKIPPED: other users'\'' files, which takes root'
fi
finish
