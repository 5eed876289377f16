#!/usr/bin/env bash
# tracewell print
. "$(dirname "$0")/common.sh"
file=$cases/tfile/gdb-tsave/input.tf

expect 0 print "$file"
has 'frame 0  tracepoint 2 at work  pc 0x401131'
has '  rip       0x401131'
has 'wide registers are zero'
has '  0x404020  68 65 6c 6c 6f 00 00 00 00 00 00 00 00 00 00 00 |hello...........|'
has '  $n = 6'
if grep -q $'\e' "$work/out"; then fail 'colour without a terminal'; fi

expect 0 print "$file" --format jsonl
lines 14
[ "$(tail -n +2 "$work/out")" = "$(tail -n +2 "$cases/tfile/gdb-tsave/expect.jsonl")" ] ||
  fail 'jsonl differs from the expected one'
expect 0 print "$file" --format csv --from 2 --to 0x4
lines 4
expect 0 print "$file" --format csv --where 'tracepoint == 4 && $rip > 0x4011ab'
lines 7
expect 1 print "$file" --where 'tracepoint == 99'
expect 1 print "$file" --from 13
for nothing in '' '  '; do
  expect 2 print "$file" --where "$nothing"
  has '--where: nothing is asked' err
  expect 2 convert "$file" "$work/nothing.tf" --where "$nothing"
done
expect 2 print "$file" --where 'tracepoint = 4'
has 'at character' err
expect 2 print "$file" --format tfile

# A trace without events is not "nothing found".
echo '{"catalog":{}}' >"$work/none.jsonl"
expect 0 print "$work/none.jsonl"

# What comes from outside cannot speak to the terminal.
cat >"$work/evil.jsonl" <<EOF
{"catalog":{"variables":[{"number":1,"name":"\\u0007bell"}],"tracepoints":[{"number":1,"address":1,\
"sources":[{"type":"at","text":"\\u001b[31mred"}]}]}}
{"kind":"frame","tracepoint":1,"variables":{"1":1},"static":["1b5b"],\
"tid":42,"cpu":3,"time_ns":1700000000123456789}
{"kind":"mark","text":"\\u001b]0;title\\u0007"}
EOF
expect 0 print "$work/evil.jsonl"
if grep -qE $'[\e\a]' "$work/out"; then fail 'control characters got through'; fi
has 'thread 42  cpu 3  2023-11-14 22:13:20.123456789 UTC'

# Steps: what they changed, what held before, and what nobody knows.
expect 0 print "$cases/jsonl/steps/input.jsonl"
has 'step 0  pc 0x10  50  push rax  rsp=0x1000  rbx=?  [0x1000]<-2a00000000000000'
has '  [0x2000]=01020304<-02020304'
has '  [0x3000]=?(512)  (what else it changed is not known)  (not all of its memory was recorded)  '
has '  before:  rax=0x2a  rsp=0x1008'
steps=$cases/jsonl/steps/input.jsonl
expect 1 print "$steps" --format csv --where '$rsp == 0x1000 && $rax == 42'
lines 1  # nobody knows rax after it: the head
expect 0 print "$steps" --format csv --where '$rsp == 0x1000 && $rax.before == 42'
lines 4  # the session that it is of, and what is missing behind it
has ',,3,lines that cannot be read'
has 'rsp=0x1000 rbx=?,rax=0x2a rsp=0x1008,w:0x1000:2a00000000000000 n:0x1008:0102 rw:'

# Damage is told on standard error, and what is whole is printed.
head -c 30000 "$file" >"$work/cut.tf"
expect 0 print "$work/cut.tf" --format csv
has 'frame-cut' err
expect 3 print "$work/cut.tf" --strict
finish
