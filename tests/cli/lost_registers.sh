#!/usr/bin/env bash
# Where a trace tells registers only after each step, what they held in front of a loss is not said
# to hold behind it: one whole round of a loop may be missing.
. "$(dirname "$0")/common.sh"

make='import sys
few, at, lost = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
names = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split()
print("""{"catalog":{"machine":"x86-64","endian":"little"}}""")
step = 0
while step < 400:
    if lost and step == at:
        print("""{"kind":"lost","count":%d}""" % lost)
        step += lost
        lost = 0
    values = dict(zip(names, [step, 1] if few else [step // 20 + 3, *range(256, 271)]))
    told = ",".join("\"%s\":\"%#x\"" % one for one in values.items())
    print("""{"kind":"step","tid":1,"pc":"%#x","opcode":"90","registers":{%s}}"""
          % (0x1000 + step % 20, told))
    step += 1'
run() {  # FEW LOST: 400 steps, without LOST of them from step 100 on
  python3 -c "$make" "$1" 100 "$2"
}
run 0 0 >"$work/whole.jsonl"
run 0 20 >"$work/round.jsonl"
undecided() {  # A B
  expect 1 diff "$1" "$2"
  [[ $(tail -n 1 "$work/out") == 'not known: steps are missing'* ]] ||
    fail "$1 $2: nobody knows whether they differ: $(cat "$work/out")"
}
undecided "$work/round.jsonl" "$work/whole.jsonl"
undecided "$work/whole.jsonl" "$work/round.jsonl"

shown() {  # FILE STEP rax's line
  expect 0 at "$1" "$2" --reg rax
  has "$3"
}
shown "$work/round.jsonl" 99 'rax       0x7'
shown "$work/round.jsonl" 101 'rax       0x9'
for suffix in jsonl trace64; do
  copy=$work/copy.$suffix
  expect 0 convert "$work/round.jsonl" "$copy"
  shown "$copy" 100 'rax       not known'
  undecided "$copy" "$work/whole.jsonl"
done
shown "$work/round.jsonl" 100 'rax       not known'
expect 0 print "$work/round.jsonl" --where 'rax == 7'
grep -q 'step 99 ' "$work/out" || fail 'rax is known in front of the loss'
if grep -q 'step 100 ' "$work/out"; then fail 'nobody knows rax right behind the loss'; fi

# Two registers that differ say that it is not the same moment.
run 1 7 >"$work/few7.jsonl"
run 1 20 >"$work/few20.jsonl"
undecided "$work/few7.jsonl" "$work/few20.jsonl"
undecided "$work/few20.jsonl" "$work/few7.jsonl"

# A step with `before` says that all that it does not name still holds, and a copy says so, too.
# What one thread has lost does not change another's registers.
cat >"$work/told.jsonl" <<'END'
{"catalog":{"machine":"x86-64","endian":"little"}}
{"kind":"step","tid":1,"pc":"0x1000","opcode":"90","registers":{"rax":1,"rbx":2}}
{"kind":"step","tid":2,"pc":"0x1000","opcode":"90","registers":{"rax":3}}
{"kind":"lost","count":7}
{"kind":"step","tid":1,"pc":"0x1001","opcode":"90","before":{}}
{"kind":"step","tid":2,"pc":"0x1001","opcode":"90","before":{"rbx":4}}
{"kind":"lost","count":7,"tid":1}
{"kind":"step","tid":1,"pc":"0x1002","opcode":"90"}
{"kind":"step","tid":2,"pc":"0x1002","opcode":"90"}
END
expect 0 convert "$work/told.jsonl" "$work/told2.jsonl"
for name in told told2; do
  file=$work/$name.jsonl
  shown "$file" 2 'rax       0x1'
  shown "$file" 3 'rax       0x3'
  shown "$file" 4 'rax       not known'
  shown "$file" 5 'rax       0x3'
done
finish
