#!/usr/bin/env bash
# --image FILE@BASE: what was executed is compared with what the file has there, by every command
# that takes both.
. "$(dirname "$0")/common.sh"
cat >"$work/prog.s" <<'ASM'
.globl work, other
.text
work: .rept 100
mov $7, %eax
.endr
other: .rept 100
xor %ecx, %ecx
nop
.endr
ASM
cc -nostdlib -shared -Wl,--build-id=none -o "$work/prog.so" "$work/prog.s"
cp "$work/prog.so" "$work/second.so"
code=0x$(nm "$work/prog.so" | awk '$3 == "work" { print $1 }')
base=0x7ff000000000

# run NAME FIRST COUNT CHANGED: steps through `work` from the FIRST instruction on, of which CHANGED
# have something else than the file has.
run() {
  python3 - $((code + base)) "$2" "$3" "$4" >"$work/$1.jsonl" <<'PYTHON'
import json, sys
code, first, count, changed = (int(one) for one in sys.argv[1:])
print('{"catalog":{"machine":"x86-64"}}')
for i in range(count):
    opcode = "b8090000" + "00" if i < changed else "b8070000" + "00"
    pc = hex(code + 5 * (first + i))
    print(json.dumps({"kind": "step", "tid": 1, "pc": pc, "opcode": opcode}))
PYTHON
}
silent() { [ ! -s "$work/err" ] || fail "$*: $(cat "$work/err")"; }
run right 0 40 0
# Every command that takes an image; `at` and its like ask an index, the others read once.
commands() {  # TRACE IMAGE
  echo "print $1 --image $2"
  echo "print $1 --to 5 --image $2"
  echo "print $1 --where pc>5 --columns symbol --image $2"
  echo "at $1 3 --image $2"
  echo "hits $1 --image $2"
  echo "find $1 exec $(printf '0x%x' $((code + base))) --image $2"
  echo "diff $1 $1 --image $2"
  echo "info $1 --image $2"
  echo "check $1 --image $2"
  echo "convert $1 $work/out.csv --image $2"
  echo "convert $1 $work/out.trace64 --image $2"
}
expect 0 convert "$work/right.jsonl" "$work/right.trace64"
run wrong 0 40 40
expect 0 convert "$work/wrong.jsonl" "$work/wrong.trace64"
for kind in jsonl trace64; do
  while read -r command; do
    # shellcheck disable=SC2086
    expect 0 $command
    ! grep 'is not what was executed\|BASE' "$work/err" || fail "$command: nothing is wrong"
  done < <(commands "$work/right.$kind" "$work/prog.so@$base")
  while read -r command; do
    # shellcheck disable=SC2086
    expect 0 $command
    has "prog.so at $base is not what was executed: at " err
    has "the trace has b809000000 (mov eax, 0x09), and this file b807000000 (mov eax, 0x07)" err
    [ "$(grep -c 'not what was executed' "$work/err")" = 1 ] || fail "$command: told twice"
  done < <(commands "$work/wrong.$kind" "$work/prog.so@$base")
done
expect 0 print "$work/wrong.jsonl" --image "$work/prog.so@$base"
has 'at 40 of the 40 instructions that were compared it has something else' err
expect 1 calls "$work/wrong.trace64" --image "$work/prog.so@$base"
has 'is not what was executed' err
for kind in jsonl trace64; do
  "$tracewell" replay "$work/wrong.$kind" - --image "$work/prog.so@$base" </dev/null \
    >"$work/out" 2>"$work/err"
  has "is not what was executed" err
done

# Of several images the one that is wrong is named; what a program has changed itself is no fault.
expect 0 print "$work/wrong.jsonl" --image "$work/second.so@0x7ee000000000" \
  --image "$work/prog.so@$base"
has 'prog.so at' err
! grep -q 'second.so' "$work/err" || fail 'the other image'
run patched 0 40 20
expect 0 print "$work/patched.jsonl" --image "$work/prog.so@$base"
silent half of it is as it was
run patched 0 40 21
expect 0 print "$work/patched.jsonl" --image "$work/prog.so@$base"
has 'at 21 of the 40 instructions' err

# A base at which nothing was executed.
expect 0 print "$work/right.jsonl" --image "$work/prog.so@0x10000"
has "none of the 40 instructions that were looked at is in $work/prog.so; is BASE right?" err
expect 0 at "$work/right.trace64" 0 --image "$work/prog.so@0x10000" \
  --image "$work/second.so@0x90000"
has 'none of the 40 instructions that were looked at is in any image; is BASE right?' err

# As somebody meant it who left out the 0x.
expect 2 print "$work/right.jsonl" --image "$work/prog.so@7ff000000000"
has "'7ff000000000' is no address; BASE is a number, decimal or 0x…; is 7ff000000000 hexa" err
expect 2 print "$work/right.jsonl" --image "$work/prog.so@140000000"
has 'is not the start of a page' err
has '; is 140000000 hexadecimal? Then it is 0x140000000' err
expect 2 replay "$work/right.jsonl" - --image "$work/prog.so@140000000"
has '; is 140000000 hexadecimal? Then it is 0x140000000' err
finish
