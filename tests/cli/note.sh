#!/usr/bin/env bash
# waits
# timeout: 200
# labels: answers
# tracewell note: notes beside a trace, and what becomes of them.
. "$(dirname "$0")/common.sh"
data=$TRACEWELL_SOURCE/tests/formats/data
trace=$work/run.trace64
cp "$data/synthetic_single.trace64" "$trace"

expect 1 note "$trace"
expect 0 note "$trace" 1000 the key is here
expect 0 note "$trace" 0x10 'first
second'
expect 0 note "$trace" 4 gone
expect 0 note "$trace"
lines 3
has 'step 4  pc 0x'
has 'step 16  pc 0x'
has '  first\x0asecond'
has '  the key is here'
expect 0 note "$trace" 1000
lines 1
expect 0 note "$trace" 4 --delete
expect 1 note "$trace" 4
expect 1 note "$trace" 4 --delete
expect 0 note "$trace" 1000 the key was here
expect 0 note "$trace" --json
python3 - "$work/out" <<'PYTHON' || fail 'note --json'
import json, sys
notes = [json.loads(line) for line in open(sys.argv[1])]
assert [note["step"] for note in notes] == [16, 1000], notes
assert notes[0]["text"] == "first\nsecond" and notes[1]["text"] == "the key was here", notes
assert all(note["pc"].startswith("0x") and note["tid"] for note in notes), notes
PYTHON
[ "$(ls "$work" | grep -c notes)" = 1 ] || fail "$(ls "$work")"

# Where they are shown.
expect 0 at "$trace" 1000
has '  note: the key was here'
expect 0 at "$trace" 1000 --json
has '"notes":["the key was here"]'
expect 0 info "$trace"
has 'notes      2'
has '1000 the key was here'
expect 0 info --json "$trace"
has '"text": "the key was here"'
expect 0 print "$trace" --from 999 --to 1001
lines 5
has 'mark 1000  the key was here'
expect 0 print "$trace" --where 'seq == 1000 && kind == "step"' --columns index,note
lines 2
has '1000      the key was here'
expect 0 print "$trace" --where 'text =~ "KEY"'
lines 1
expect 0 print "$trace" --from 1000 --to 1000 --json
python3 -c '
import json, sys
row = json.loads(open(sys.argv[1]).read())
assert row["step"] == 1000 and row["note"] == "the key was here", row
' "$work/out" || fail 'print --json'

# They go along: to the steps' new numbers, as marks, as comments; and are told where they cannot.
expect 0 convert "$trace" "$work/part.trace64" --from 10 --where 'seq <= 16 || seq == 1000'
expect 0 note "$work/part.trace64"
lines 2
has 'step 6  '
has 'step 7  '
expect 0 check "$work/part.trace64"
has 'sound'
expect 0 repair "$work/part.trace64" "$work/again.trace64"
cmp "$work/part.trace64" "$work/again.trace64" || fail 'notes of its own, repaired'
expect 0 repair "$trace" "$work/whole.trace64"
expect 0 note "$work/whole.trace64" 1000
has 'the key was here'
expect 0 convert "$trace" "$work/old.trace64" --compat
has '2 notes are left out' err
cmp "$work/old.trace64" "$trace" || fail '--compat'
expect 0 convert "$trace" "$work/run.jsonl"
grep -q '"seq":1000,"kind":"mark".*"the key was here"' "$work/run.jsonl" || fail 'marks'
expect 0 at "$work/run.jsonl" 1000
has '  note: the key was here'
expect 0 convert "$work/run.jsonl" "$work/back.trace64"
expect 0 note "$work/back.trace64" 16
has 'first\x0asecond'
expect 0 convert "$trace" "$work/run-tvt.json" --format tvt
grep -q '"comment":"the key was here"' "$work/run-tvt.json" || fail 'comments'

# Those of steps that are not selected are counted, wherever the selection begins.
for from in "$trace" "$work/run.jsonl"; do
  for one in "1:--from 10 --to 900" "1:--from 17" "2:--from 17 --to 900" "2:--to 15" \
    "1:--where seq!=16"; do
    # shellcheck disable=SC2086
    expect 0 convert "$from" "$work/part.jsonl" ${one#*:}
    has "part.jsonl: ${one%%:*} note" err
    has ' of steps that were not selected ' err
  done
  expect 0 convert "$from" "$work/part.jsonl" --where 'seq < 2000'
  if grep -q 'not selected' "$work/err"; then fail "$from: both notes are there"; fi
done
for format in tenet drcov modoff folded tfile; do
  expect 0 convert "$trace" "$work/run.$format" --format $format \
    --module it@0x1000,0xffffffffffffe000
  has '2 notes are left out' err
done

# Notes in a trace are changed beside it.
expect 0 note "$work/part.trace64" 6 another
expect 0 note "$work/part.trace64"
lines 2
has '  another'
expect 0 note "$work/part.trace64" 7 --delete
expect 0 note "$work/part.trace64" 6 --delete
expect 1 note "$work/part.trace64"
expect 0 repair "$work/part.trace64" "$work/bare.trace64"
expect 1 note "$work/bare.trace64"
rm "$work/part.trace64.notes"
expect 0 note "$work/part.trace64"
has 'first\x0asecond'
expect 0 note "$work/part.trace64" --clear
expect 1 note "$work/part.trace64"
expect 0 note "$work/part.trace64" 3 'one beside'
expect 0 note "$work/part.trace64" 3 --delete
expect 1 note "$work/part.trace64"

# A trace that grows keeps its notes; another one does not get them.
head -c 200000 "$data/synthetic_single.trace64" >"$work/grows.trace64"
expect 0 note "$work/grows.trace64" 5 kept
cp "$data/synthetic_single.trace64" "$work/grows.trace64"
expect 0 note "$work/grows.trace64"
has 'kept'
cp "$data/synthetic_threads_fixed.trace64" "$work/grows.trace64"
expect 1 note "$work/grows.trace64"
has 'is not of this trace as it is now; its notes are not used' err
expect 0 at "$work/grows.trace64" 5
has 'its notes are not used' err
if grep -q kept "$work/out"; then fail 'a note of another trace'; fi
expect 2 note "$work/grows.trace64" 5 new
has '--clear' err
expect 0 note "$work/grows.trace64" --clear
expect 0 note "$work/grows.trace64" 5 new
expect 0 note "$work/grows.trace64" 5

# What is no file of notes.
good=$(head -1 "$work/grows.trace64.notes")
for bad in '' 'nonsense' '{"notes_of":7}' '[1]' '{"notes_of":{"bytes":99999999999999999999}}' \
  '{"notes_of":{"bytes":1,"head":"0","tail":[]}}' "$(printf '[%.0s' $(seq 5000))"; do
  printf '%s\n' "$bad" >"$work/grows.trace64.notes"
  expect 1 note "$work/grows.trace64"
  has 'is not of this trace' err
done
{
  printf '%s\n{"step":1,"text":"a"}\n{"step":-1,"text":"b"}\n{"step":2}\n' "$good"
  printf '\377\n{"step":3,"text":"\\u001b[31m"}\n{"step":4e99,"text":"x"}'
} >"$work/grows.trace64.notes"
expect 0 note "$work/grows.trace64"
lines 2
has 'bad-note at' err
has 'line 3: ' err
if grep -q $'\e' "$work/out"; then fail 'a note spoke to the terminal'; fi
expect 3 note "$work/grows.trace64" 1 more
has 'put it right' err
[ "$(wc -l <"$work/grows.trace64.notes")" = 6 ] || fail 'a damaged file was changed'
printf '%s\n{"step":18446744073709551615,"text":"far"}\n' "$good" >"$work/grows.trace64.notes"
expect 0 note "$work/grows.trace64"
has 'step 18446744073709551615  behind the last one  far'
expect 0 print "$work/grows.trace64" --from 4999
has 'far'

# The same where notes are marks among the steps.
printf '%s\n' '{"catalog":{"machine":"x86-64"}}' '{"kind":"mark","text":"inside"}' \
  '{"kind":"step","pc":"0x10","opcode":"90"}' '{"kind":"mark","text":"at 1"}' \
  '{"kind":"step","pc":"0x11","opcode":"90"}' >"$work/own.jsonl"
expect 0 note "$work/own.jsonl" 0 'another word'
expect 0 note "$work/own.jsonl"
lines 2
has 'step 0  pc 0x10  another word'
for shown in 'at 0' 'print --to 0' 'convert - --format jsonl --to 0'; do
  read -r -a words <<<"$shown"
  expect 0 "${words[0]}" "$work/own.jsonl" "${words[@]:1}"
  has 'another word'
  if grep -q inside "$work/out"; then fail "$shown: what was replaced"; fi
done
expect 0 note "$work/own.jsonl" 1 --delete
expect 0 print "$work/own.jsonl"
if grep -q 'at 1' "$work/out"; then fail 'what was deleted'; fi
expect 0 note "$work/own.jsonl" --clear
expect 1 note "$work/own.jsonl"
rm "$work/own.jsonl.notes"
expect 0 note "$work/own.jsonl"
lines 2

# Mistakes.
expect 2 note "$trace" 5000000 there
has 'there is no step 5000000' err
expect 2 note "$trace" five there
expect 2 note "$trace" --delete
expect 2 note "$trace" 5 text --delete
expect 2 note "$trace" 5 --clear
expect 2 note - 5 text
expect 3 note "$cases/tfile/gdb-tsave/input.tf" 1 text
# Whoever writes at the same time waits for his turn.
cp "$cases/data/synthetic_threads_fixed.trace64" "$work/many.trace64"
for step in $(seq 12); do
  "$tracewell" note "$work/many.trace64" "$step" "note $step" &
done
wait
expect 0 note "$work/many.trace64"
lines 12
[ -e "$work/many.trace64.notes.lock" ] && fail 'a lock is left'

# Whoever may read a trace, or its notes, may lock them, and keeps nobody from noting.
held=$work/held.trace64
cp "$cases/data/synthetic_threads_fixed.trace64" "$held"
timeout 60 flock -x "$held" "$tracewell" note "$held" 1 one || fail "a lock of the trace: $?"
timeout 60 flock -x "$held.notes" "$tracewell" note "$held" 2 two || fail "a lock of notes: $?"
expect 0 note "$held"
lines 2

# Who waits for another command says so in the end, and is ended by signals meanwhile.
python3 - "$tracewell" "$held" <<'PYTHON' || fail 'waiting for a turn'
import fcntl, os, signal, subprocess, sys
tracewell, trace = sys.argv[1:]
lock = trace + ".notes.lock"
with open(os.open(lock, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    note = [tracewell, "note", trace, "3", "three"]
    ran = subprocess.run(note, capture_output=True, timeout=100)
    assert ran.returncode == 4 and b"holds " + lock.encode() in ran.stderr, ran
    for number in signal.SIGINT, signal.SIGTERM:
        waits = subprocess.Popen(note)
        files = f"/proc/{waits.pid}/fd/"

        def opened():
            for name in os.listdir(files):
                try:
                    yield os.readlink(files + name)
                except FileNotFoundError:
                    pass
        while lock not in opened():
            assert waits.poll() is None, waits.returncode
        waits.send_signal(number)
        assert waits.wait(100) == -number, waits.returncode
PYTHON
# One that is left is nobody's.
expect 0 note "$held" 3 three
[ -e "$held.notes.lock" ] && fail 'the lock is still there'
mkdir "$held.notes.lock"
expect 2 note "$held" 4 four
has 'it is no regular file; the file is there while notes are written' err
rmdir "$held.notes.lock"
expect 0 note "$held"
lines 3

finish
