#!/usr/bin/env bash
# What somebody types who does not know the words yet: understood, or refused with the words.
. "$(dirname "$0")/common.sh"
run=$work/run.jsonl
python3 "$TRACEWELL_SOURCE/examples/travel/squares.py" >"$run"
expect 0 convert "$run" "$work/run.trace64"

# A register is one with a $ before it, too.
expect 0 find "$run" reg rax
cp "$work/out" "$work/bare"
expect 0 find "$run" reg '$rax'
cmp "$work/bare" "$work/out" || fail 'find reg $rax'
expect 0 at "$run" 3 --reg '$rax,$al'
has '  rax       0x10'
has '  al        0x10'
expect 2 find "$run" reg '$nope'
has 'this trace has no register $nope' err

# Bytes.
expect 2 find "$run" bytes 123
has 'such as 488b05; this is an odd number of digits' err
expect 2 find "$run" bytes 0x1234
has '; without 0x it is 1234' err
expect 2 find "$run" bytes 0x123
has '; a number is found by: find value' err
expect 2 find "$run" bytes key
has '; the bytes of this text are 6b6579' err

# Where an image is.
echo 'int main(void) { return 0; }' >"$work/sq.c"
cc -o "$work/sq" "$work/sq.c"
for bad in zzz 0x40zz ''; do
  expect 2 print "$run" --image "$work/sq@$bad"
  has "'$bad' is no address; BASE is a number, decimal or 0x" err
done
expect 2 print "$run" --image "$work/sq@55550a0"
has 'is 55550a0 hexadecimal? Then it is 0x55550a0' err
for bad in 'sq@7ff6a0,0x1000' 'sq@0x7ff6a0,1f00' 'sq@7ff6a0,1f00'; do
  expect 2 convert "$run" "$work/out.drcov" --module "$bad"
  has "--module $bad: wanted is NAME@BASE,SIZE; is " err
done
has 'is 7ff6a0 hexadecimal? Then it is 0x7ff6a0' err
expect 2 at "$run" 3 --mem 7f0000,4
has 'wanted is ADDR or ADDR,LEN; is 7f0000 hexadecimal? Then it is 0x7f0000' err
expect 2 at "$run" 3 --mem 0x7f0000,1f
has 'wanted is ADDR or ADDR,LEN; is 1f hexadecimal? Then it is 0x1f' err
expect 2 convert "$run" "$work/out.tf" --at 40100c
has 'is 40100c hexadecimal? Then it is 0x40100c' err
cp "$work/sq" "$work/sq@home"
expect 0 print "$run" --image "$work/sq@home"
expect 4 print "$run" --image "$work/none"

# Numbers, notes, commands.
for command in "at $run 3" "calls $run"; do
  expect 2 $command --thread foo
  has '--thread: not a number: foo' err
done
for empty in '' ' ' '  '; do
  expect 2 note "$run" 3 "$empty"
  has 'there is no text in this note; --delete forgets one' err
done
expect 1 note "$run"
expect 2 ifno "$run"
has "no command 'ifno'; did you mean info" err
expect 2 help conver
has "no command 'conver'; did you mean convert?" err
expect 2 qqqqqqqq
if grep -q 'did you mean' "$work/err"; then fail 'nothing is near that'; fi

# repair keeps the format, so that a name of another one is a mistake.
expect 2 repair "$work/run.trace64" "$work/out.jsonl"
has 'repair writes the format of' err
has 'is a name of jsonl' err
[ -e "$work/out.jsonl" ] && fail 'a file by the wrong name'
expect 0 repair "$work/run.trace64" "$work/out.name"
if grep -q 'in spite of' "$work/err"; then fail 'any other name will do'; fi
expect 0 repair "$work/run.trace64" "$work/out.trace32"
has 'out.trace32: this is 64-bit code in spite of the name; x64dbg looks for it in .trace64' err

# Options of one format, given for another.
expect 0 convert "$run" "$work/out.jsonl" --style x64dbg --compat
has 'out.jsonl: --style, --compat changes nothing: that is of trace64, and this is jsonl' err
expect 0 convert "$run" "$work/out.csv" --mark-gaps --where 'pc == 0x40100c'
has 'out.csv: --mark-gaps changes nothing: that is of trace64, and this is csv' err
grep -q 'lost.*left out' "$work/out.csv" || fail 'gaps are marked anyway'
for columns in symbol step,source,symbol; do
  expect 0 print "$run" --columns "$columns"
  has "--columns ${columns#step,}: nothing to show; names come from --image FILE[@BASE]" err
done
expect 0 print "$run" --columns step,module
if grep -q 'nothing to show' "$work/err"; then fail 'modules may be in the trace'; fi
expect 0 convert "$run" "$work/out.trace64" --style x64dbg
if grep -q 'changes nothing' "$work/err"; then fail '--style is of trace64'; fi

# Of a damaged file, check and info count the same; what is merely noteworthy is no problem.
python3 - "$work" <<'PYTHON'
import sys
trace = open(sys.argv[1] + "/run.trace64", "rb").read()
open(sys.argv[1] + "/cut.trace64", "wb").write(trace[:-100])
header = 8 + int.from_bytes(trace[4:8], "little")
open(sys.argv[1] + "/twice.trace64", "wb").write(trace + trace[header:])
PYTHON
for name in cut twice; do
  "$tracewell" check "$work/$name.trace64" >"$work/check"
  expect 0 info "$work/$name.trace64"
  events=$(tail -1 "$work/check" | grep -o '[0-9]* events')
  has "records    ${events% events}"
done
expect 1 check "$work/cut.trace64"
has 'damaged, 1 problem; '
expect 0 info "$work/cut.trace64"
grep -q '^problems   1$' "$work/out" || fail "problems: $(cat "$work/out")"
finish
