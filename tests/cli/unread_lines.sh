#!/usr/bin/env bash
# Where a line of a trace cannot be read, what registers held before it is not said to hold behind
# it: not when one looks, not in what it is converted to.
. "$(dirname "$0")/common.sh"

cat >"$work/run.jsonl" <<'LINES'
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"90","before":{"rax":1,"rbx":2,"rsp":2304}}
{"kind":"step","tid":7,"pc":"0x1001","opcode":"48c7c3050000","registers":{"rbx":"0x5"
{"kind":"step","tid":7,"pc":"0x1008","opcode":"48ffc0","before":{"rax":3},"registers":{"rax":4}}
{"kind":"step","tid":7,"pc":"0x100b","opcode":"90","registers":{}}
LINES
{
  echo 'rip=0x1000,rax=0x1,rbx=0x2,rsp=0x900'
  printf 'rbx=0x%01048577d\n' 5
  echo 'rip=0x1008,rax=0x3'
  echo 'rip=0x100b,rax=0x4'
} >"$work/run.log"
cat >"$work/run.json" <<'LINES'
{"arch":"x64","regs":["rax","rbx","rsp","rip"],"ip_reg":"rip","trace":[
{"id":0,"ip":4096,"regs":[1,2,2304,4096],"opcodes":"90"},
{"id":1,"ip":4097,"regs":[1,,
{"id":2,"ip":4104,"regs":[3,null,null,4104],"opcodes":"48ffc0"},
{"id":3,"ip":4107,"regs":[4,null,null,4107],"opcodes":"90"}]}
LINES

look='import json, sys
shown = json.load(open(sys.argv[1]))["registers"]
wanted = dict(pair.split("=") for pair in sys.argv[2:])
for name, value in wanted.items():
    assert shown.get(name) == (value or None), (name, shown.get(name), value)'
# known FILE: of step 0 all three, behind the line that is missing rax alone.
known() {
  expect 0 at "$1" 0 --regs --json
  python3 -c "$look" "$work/out" rax=0x1 rbx=0x2 rsp=0x900 || fail "$1: step 0: $(cat "$work/out")"
  expect 0 at "$1" 1 --regs --json
  python3 -c "$look" "$work/out" rax=0x3 rbx= rsp= || fail "$1: step 1: $(cat "$work/out")"
  expect 0 at "$1" 2 --regs --json
  python3 -c "$look" "$work/out" rax=0x4 rbx= rsp= || fail "$1: step 2: $(cat "$work/out")"
}

for name in run.jsonl run.log run.json; do
  known "$work/$name"
  expect 1 check "$work/$name"
  expect 0 print "$work/$name"
  grep -A1 'lost 1' "$work/out" | grep -q 'step 1 .*0x1008' || fail "$name: $(cat "$work/out")"
done

# Items, values and accesses that cannot be read.
at_is() {  # FILE STEP REGISTER=VALUE...
  local file=$1 step=$2
  shift 2
  expect 0 at "$file" "$step" --regs --json
  python3 -c "$look" "$work/out" "$@" || fail "$file: $step: $*: $(cat "$work/out")"
}
printf 'rip=0x1000,rax=0x1,rbx=0x2\ngarbage garbage\nrip=0x1004,rax=0x3\n' >"$work/g.log"
at_is "$work/g.log" 1 rax=0x3 rbx=
printf 'rip=0x1000,rax=0x1,rbx=0x2\nrip=0x1001,\001bx=0x5,rax=0x3\n' >"$work/n.log"
at_is "$work/n.log" 1 rax=0x3 rbx=
printf 'rip=0x1000,rax=0x1,rbx=0x2\nrip=0x1001,rbx=0xzz\n' >"$work/v.log"
at_is "$work/v.log" 1 rax=0x1 rbx=
{
  printf 'rip=0x1000,rax=0x1\nrax=0x2,rbx=0x7,rip=zz\n'
  printf 'rbx=0x%01048577d\n' 5
  printf 'rip=0x1008,rax=0x3\n'
} >"$work/c.log"
at_is "$work/c.log" 1 rax=0x3 rbx=
printf 'rip=0x1000,rax=0x1\nrax=0x2,rip=zz\nrip=0x1008,rax=0x3\n' >"$work/d.log"
at_is "$work/d.log" 1 rax=0x3
expect 0 convert "$work/d.log" "$work/d.jsonl"
[ "$(grep -o '"rax"' "$work/d.jsonl" | wc -l)" = 2 ] || fail "rax twice: $(cat "$work/d.jsonl")"
printf 'rip=0x1000,rax=0x1,mw=0x10:zz\nrip=0x1001\n' >"$work/m.log"
expect 0 print "$work/m.log"
has 'not all of its memory was recorded'

# Beside a run that lacks nothing there.
sed 3d "$work/run.jsonl" >"$work/whole.jsonl"
expect 1 diff "$work/run.jsonl" "$work/whole.jsonl"
has '1 step is missing in A in front of step 1: cannot tell whether the runs differ; all that is'
has 'not known: steps are missing'
expect 1 diff "$work/run.jsonl" "$work/run.jsonl"
has "not known: steps are missing (A lacks 1 step"

# What is made of it, and of that again.
expect 0 convert "$work/run.jsonl" "$work/run.trace64"
known "$work/run.trace64"
expect 0 convert "$work/run.trace64" "$work/again.jsonl"
known "$work/again.jsonl"
expect 0 convert "$work/run.jsonl" "$work/half.jsonl" --where 'seq != 1'
expect 0 at "$work/half.jsonl" 1 --regs --json
python3 -c "$look" "$work/out" rax=0x4 rbx= rsp= || fail "half: $(cat "$work/out")"
finish
