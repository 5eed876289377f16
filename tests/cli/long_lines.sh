#!/usr/bin/env bash
# Lines of gigabytes, which may be holes: nobody copies them, and what is left out is told.
. "$(dirname "$0")/common.sh"
# AddressSanitizer reserves far more address space than any limit that would mean something. The
# file itself is mapped.
limit=$((4500 * 1024))
[ -z "$sanitized" ] || limit=unlimited
bounded() {  # STATUS ARGS...
  local wanted=$1 got
  shift
  (ulimit -v "$limit"; timeout 60 "$tracewell" "$@") >"$work/out" 2>"$work/err" </dev/null
  got=$?
  [ "$got" = "$wanted" ] || fail "$*: $got, not $wanted: $(head -2 "$work/err")"
}
with_hole() {  # FILE SIZE: the last line of the file goes on, with nothing, to that size
  truncate -s "$2" "$1"
  printf '"}\n{"kind":"mark","text":"behind it"}\n' >>"$1"
}
begin='{"catalog":{"endian":"little"}}\n{"kind":"mark","text":"before it"}\n{"kind":"mark","text":"'
printf "$begin" >"$work/run.jsonl"
with_hole "$work/run.jsonl" 200M
bounded 0 print "$work/run.jsonl"
has 'before it'
has 'behind it'
has 'line 3: it has more than 64 MiB; left out' err
expect 3 print --strict "$work/run.jsonl"
printf "$begin" >"$work/run.jsonl"
with_hole "$work/run.jsonl" 3G
bounded 0 print "$work/run.jsonl"
has 'before it'
has 'line 3: it has more than 64 MiB; left out' err
printf '{"catalog":{"machine":"' >"$work/catalog.jsonl"
with_hole "$work/catalog.jsonl" 3G
bounded 3 print "$work/catalog.jsonl"
has 'the first line, has more than 256 MiB' err
printf 'rip=0x401000,rax=0x1\nrip=0x401001\n' >"$work/run.tenet"
truncate -s 1T "$work/run.tenet"
timeout 60 "$tracewell" print "$work/run.tenet" >"$work/out" 2>"$work/err" || fail "a line of a TB"
has 'step 1  pc 0x401001'
has 'line 3: more than 1 MiB in a line; left out' err
rm "$work/run.tenet"

# Notes are looked at only where all of them are not too many.
printf '{"catalog":{"endian":"little"}}\n{"kind":"step","tid":1,"pc":"0x1"}\n' >"$work/run.jsonl"
expect 0 note "$work/run.jsonl" 0 text
cp "$work/run.jsonl.notes" "$work/notes"
truncate -s 3G "$work/run.jsonl.notes"
bounded 0 print "$work/run.jsonl"
has 'has more than the 64 MiB that notes may have; its notes are not used' err
bounded 3 note "$work/run.jsonl" 0 other
has 'has more than the 64 MiB that notes may have' err
cp "$work/notes" "$work/run.jsonl.notes"
python3 -c 'print("{\"step\":0,\"text\":\"" + "a" * (2 << 20) + "\"}")' >>"$work/run.jsonl.notes"
expect 0 note "$work/run.jsonl"
has 'line 3: it is too long; left out' err
lines 1
finish
