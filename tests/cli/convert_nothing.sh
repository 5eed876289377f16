#!/usr/bin/env bash
# tracewell convert, when nothing is left: what is there already stays as it is, whatever it is, and
# it is told what was asked for.
. "$(dirname "$0")/common.sh"
python3 "$TRACEWELL_SOURCE/examples/travel/squares.py" >"$work/run.jsonl"
expect 0 convert "$work/run.jsonl" "$work/run.trace64"
module=prog@0x401000,0x1000

# unwritten STATUS ARGS...: no format writes over what is there.
unwritten() {
  local name status=$1
  shift
  for name in out.jsonl out.trace64 out.tf out.tenet out.drcov out.modoff out.folded out.csv; do
    echo precious >"$work/$name"
    expect "$status" convert "$@" "$work/$name"
    [ "$(cat "$work/$name")" = precious ] || fail "$* wrote over $name"
  done
  [ -z "$(find "$work" -name 'out.*.*')" ] || fail "$* left a file: $(ls "$work")"
}

for trace in run.jsonl run.trace64; do
  unwritten 1 --module "$module" --where 'pc == 401010' "$work/$trace"
  has "no step fits --where 'pc == 401010'; is 401010 hexadecimal? Then it is 0x401010; \
$work/out.csv is not written" err
  unwritten 1 --module "$module" --from 46 "$work/$trace"
  has '--from 46 is behind the last step, 45' err
  unwritten 2 --module "$module" --from 9 --to 8 "$work/$trace"
  has '--from 9 is behind --to 8: nothing is between them' err
  unwritten 1 --at 0x999 "$work/$trace"
  has 'no step is at 0x999' err
  unwritten 1 --at 0x401000 --from 40 "$work/$trace"
  has 'no step fits --from 40 --at 0x401000' err
done
# What is in no module is nothing for those who count by modules.
for name in out.drcov out.modoff; do
  echo precious >"$work/$name"
  expect 1 convert "$work/run.jsonl" "$work/$name"
  [ "$(cat "$work/$name")" = precious ] || fail "wrote over $name"
done

# Notes and sessions are no steps: where they are, nothing is found all the same.
expect 0 note "$work/run.jsonl" 3 'a note'
expect 0 note "$work/run.jsonl" 46 'behind all of it'
unwritten 1 --at 0x999 "$work/run.jsonl"
has 'no step is at 0x999' err
unwritten 1 --where 'tid == 9' "$work/run.jsonl"
has "no step fits --where 'tid == 9'" err
cat "$work/run.trace64" "$work/run.trace64" >"$work/twice.trace64"
unwritten 1 --where 'tid == 9' "$work/twice.trace64"
expect 1 print "$work/twice.trace64" --where 'tid == 9'
has "no step fits --where 'tid == 9'" err

# Frames are no steps: --at would leave them all.
for name in out.jsonl out.tf out.csv; do
  echo precious >"$work/$name"
  expect 1 convert --at 0x401131 "$cases/tfile/gdb-tsave/input.tf" "$work/$name"
  has '--at chooses among steps, and this trace has none' err
  [ "$(cat "$work/$name")" = precious ] || fail "--at of frames wrote over $name"
done

# Hooks are called by three digits, or by four.
hooks=$TRACEWELL_SOURCE/tests/cli/hooks.jsonl
expect 1 print "$hooks" --where 'id == 010'
has "no event fits --where 'id == 010'; is 010 hexadecimal? Then it is 0x010; hook 010 has the id \
0x0100" err
expect 0 print "$hooks" --where 'id == 0x0100'
lines 3
expect 1 print "$work/run.jsonl" --where 'write[404000..404010]'
has 'is 404000 hexadecimal? Then it is 0x404000' err
expect 1 print "$work/run.jsonl" --where 'step == 500'
if grep -q hexadecimal "$work/err"; then fail 'numbers of steps are decimal'; fi

# A trace without events is written as it is, when nothing was asked for.
echo '{"catalog":{"machine":"x86-64"}}' >"$work/none.jsonl"
expect 0 convert "$work/none.jsonl" "$work/none.trace64"
finish
