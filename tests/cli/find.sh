#!/usr/bin/env bash
# labels: answers
# tracewell find: who executed, touched or changed something, and when.
. "$(dirname "$0")/common.sh"
# Two threads: 7 pushes 0x2a, calls, reads it back and stores two bytes beside it; 8 changes it.
file=$TRACEWELL_SOURCE/tests/cli/steps.jsonl

# found ARGS… -- STEPS: the steps of the hits, in order.
found() {
  local args=()
  while [ "$1" != -- ]; do
    args+=("$1")
    shift
  done
  shift
  local wanted="$*" status=0
  [ -n "$wanted" ] || status=1
  expect $status find "$file" "${args[@]}"
  local got
  got=$(sed -n 's/^step \([0-9]*\) .*/\1/p' "$work/out" | tr '\n' ' ')
  [ "$got" = "${wanted:+$wanted }" ] || fail "find ${args[*]}: $got, not $wanted"
}

found exec 0x1101 -- 5
found exec 0x1000,0x102 -- 0 1 2 5 8
found exec 0x1000,0x102 --backward -- 8 5 2 1 0
found exec 0x1000,0x102 --from 1 --to 4 -- 1 2
found exec 0x1000,0x102 --limit 2 -- 0 1
found exec 0x3000 --
found write 0x7000 -- 0 4
found write 0x7001 -- 0
found write 0x6fff,2 -- 0 1 4
found write 0x7000 --to 3 --backward --limit 1 -- 0
found read 0x7000,16 -- 5
found access 0x7000,16 -- 0 4 5 6
found reg rbx -- 7
has 'rbx=0x6  (since the thread'
found reg rsp -- 0 1 7
found reg rsp --backward --limit 2 -- 7 1
has 'thread 7  rsp=0x7000'
found reg rcx --
found value 0x2b -- 4 5 5
found value 0x2b --from 5 --limit 1 -- 5
has 'after rax'
found value 0x2b --backward -- 5 5 4
has 'after rax'
found value 0x2b --backward --limit 2 -- 5 5
found value 0x2b --backward --to 4 -- 4
found value 12345 --

expect 0 find "$file" write 0x7000
has 'step 4  pc 0x2001  880c2500700000  mov byte ptr [0x7000], cl  thread 8  write 0x7000,1'
has 'write 0x7000,1  2a -> 2b'
expect 0 find "$file" bytes 2B00
has '0x7000  before steps 5 to 9'
lines 1
expect 0 find "$file" bytes 6869
has '0x7008  before steps 7 to 9, written by step 6  pc 0x1106  66c70425087000006869  mov word ptr'
expect 1 find "$file" bytes 6869 --to 6
expect 1 find "$file" bytes 686970

expect 0 find --json "$file" access 0x7000,8 --from 4
python3 - "$work/out" <<'PYTHON' || fail 'find --json'
import json, sys
hits = [json.loads(line) for line in open(sys.argv[1])]
assert hits == [
    {"step": 4, "tid": 8, "pc": "0x2001", "opcode": "880c2500700000",
     "disassembly": "mov byte ptr [0x7000], cl", "access": "write",
     "addr": "0x7000", "size": 1, "old": "2a", "new": "2b"},
    {"step": 5, "tid": 7, "pc": "0x1101", "opcode": "488b442408",
     "disassembly": "mov rax, qword ptr [rsp+0x08]", "access": "read",
     "addr": "0x7000", "size": 8, "old": "2b00000000000000"},
], hits
PYTHON
expect 0 find --json "$file" bytes 6869
has '{"addr":"0x7008","first":7,"last":9,"inferred":false,"kept":false,"written_by":{"step":6,'
# null where nobody knows the thread.
sed 's/"tid":[0-9]*,//' "$file" >"$work/unknown.jsonl"
expect 0 find --json "$work/unknown.jsonl" exec 0x1101
has '"tid":null'
expect 0 find --json "$file" reg rbx
has '"register":"rbx","by":"others","value":"0x6"}'

# Parts of registers, whatever the case; other parts do not count.
cat >"$work/parts.jsonl" <<END
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"b005","before":{"rax":"0x1134"},\
"registers":{"rax":"0x1105"}}
{"kind":"step","tid":7,"pc":"0x1002","opcode":"b42a","registers":{"rax":"0x2a05"}}
{"kind":"step","tid":7,"pc":"0x1004","opcode":"0401","before":{"rax":"0xffffffffffffff05"},\
"registers":{"rax":"0xffffffffffffff06"}}
END
steps_file=$file
file=$work/parts.jsonl
found reg RAX -- 0 1 2 2
found reg al -- 0 2
has 'al=0x5'
found reg ah -- 1 2
has 'ah=0x2a'
found reg eax --backward --limit 2 -- 2 2
found value -251..-250 -- 2 2
has 'after rax = 0xffffffffffffff06'
found value -250 -- 2
found value 0x1100..0x1134 -- 0 0
found value -1 --
expect 2 find "$file" value 5..4
has 'nothing is in this range' err
expect 2 find "$file" value 0xffffffffffffffff..-1
file=$steps_file

# Others change what a step wrote: the step that finds it stands behind, and wrote nothing.
cat >"$work/others.jsonl" <<END
{"catalog":{"endian":"little","machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x10","opcode":"90",\
"memory":[{"addr":"0x1000","size":2,"access":"write","new":"aaaa"}]}
{"kind":"step","tid":8,"pc":"0x90","opcode":"90","memory":[]}
{"kind":"step","tid":8,"pc":"0x91","opcode":"90","memory":[]}
{"kind":"step","tid":8,"pc":"0x92","opcode":"90",\
"memory":[{"addr":"0x1000","size":2,"access":"read","old":"bbbb"}]}
{"kind":"step","tid":8,"pc":"0x93","opcode":"90",\
"memory":[{"addr":"0x1000","size":1,"access":"write","new":"cc"}]}
{"kind":"step","tid":8,"pc":"0x94","opcode":"90",\
"memory":[{"addr":"0x1001","size":1,"access":"write"}]}
{"kind":"step","tid":8,"pc":"0x95","opcode":"90",\
"memory":[{"addr":"0x1000","size":2,"access":"read","old":"ccdd"}]}
{"kind":"step","tid":7,"pc":"0x11","opcode":"90",\
"memory":[{"addr":"0x1000","size":2,"access":"read","old":"ccee"}]}
END
file=$work/others.jsonl
expect 0 find "$file" bytes bbbb
lines 1
has '0x1000  before steps 1 to 4, in part inferred, changed by others between steps 0 and 1'
expect 0 find --json "$file" bytes bbbb
has '"first":1,"last":4,"inferred":true,"kept":false,"by":"others","since":0,"until":1}'
expect 0 find "$file" bytes ccbb
has 'before steps 5 to 5, written by step 4  pc 0x93'
# What was written without a value, and found by a later step of the same thread.
expect 0 find "$file" bytes ccdd
has 'written by step 5  pc 0x94'
expect 0 find "$file" bytes ccee
has 'changed by others between steps 6 and 7'
grep -q 'written by' "$work/out" && fail 'a step wrote what others did'
# Who wrote what a step sees: also where a later step finds it.
found write 0x1000 --to 1 --backward --limit 1 -- 3
has 'finds 0x1000,1  aa -> bb  (changed by others between steps 0 and 1)'
found write 0x1000 --to 0 --backward -- 3 0
found write 0x1000 --to 1 -- 0 3
found access 0x1000 --to 2 --limit 1 -- 0
found write 0x1000 --to 3 --backward --limit 1 -- 3
found write 0x1000 --to 4 --backward --limit 1 -- 4
found write 0x1001 --to 5 --backward --limit 1 -- 5
found write 0x1001 --to 6 --backward --limit 1 -- 7
found read 0x1000 --to 2 --
file=$steps_file

# Who forgets the 0x, and who finds nothing.
expect 1 find "$file" exec 1101
has 'nothing found; is 1101 hexadecimal? Then it is 0x1101' err
expect 2 find "$file" exec 7ff6
has 'is 7ff6 hexadecimal? Then it is 0x7ff6' err
expect 1 find "$file" exec 0x3000
grep -qx 'tracewell: nothing found' "$work/err" || fail "$(cat "$work/err")"

expect 2 find "$file" reg nope
has 'no register nope' err
expect 2 find "$file" exec somewhere
expect 2 find "$file" exec 0x1000,0
expect 2 find "$file" bytes 123
expect 2 find "$file" bytes ''
expect 2 find "$file" value many
expect 2 find "$file" bytes 2b --backward
expect 2 find "$file" exec 0x1000 --limit 0
expect 2 find "$file" nothing 1
expect 2 find "$file" exec
expect 3 find "$cases/tfile/gdb-tsave/input.tf" exec 1

# Backwards is the same backwards, though steps are then read differently.
cp "$TRACEWELL_SOURCE/tests/formats/data/synthetic_threads_fixed.trace64" "$work/run.trace64"
for what in "exec 0,0xffffffffffffffff" 'write 0,0xffffffffffffffff' 'read 0,0xffffffffffffffff'; do
  expect 0 find "$work/run.trace64" $what
  sed 's/^\(step [0-9]*\) .*/\1/' "$work/out" >"$work/forwards"
  [ "$(sort -u "$work/forwards" | wc -l)" -gt 50 ] || fail "few hits: $what"
  expect 0 find "$work/run.trace64" $what --backward
  sed 's/^\(step [0-9]*\) .*/\1/' "$work/out" | tac | cmp - "$work/forwards" ||
    fail "--backward: $what"
done

# Values are looked for in pieces, which begin elsewhere backwards.
long=100000 ends_of_part='--from 20001 --to 90001'
[ -z "$sanitized" ] || long=20000 ends_of_part='--from 4001 --to 18001'
{
  echo '{"catalog":{"endian":"little","machine":"x86-64"}}'
  echo '{"kind":"step","tid":1,"pc":"0x1000","opcode":"90","before":{"rip":"0x1000","rcx":"0x7"}}'
  awk -v long=$long 'BEGIN { for (i = 1; i < long; i++)
    printf "{\"kind\":\"step\",\"tid\":%d,\"pc\":\"0x1000\",\"opcode\":\"90\"," \
           "\"registers\":{\"rax\":\"0x%x\"}}\n", 1 + int(i / 999) % 2, i % 997 }'
} >"$work/long.jsonl"
for ends in '' "$ends_of_part"; do
  expect 0 find "$work/long.jsonl" value 7 $ends
  cp "$work/out" "$work/forwards"
  [ "$(wc -l <"$work/forwards")" -gt $((long * 6 / 10000)) ] || fail "few values"
  expect 0 find "$work/long.jsonl" value 7 $ends --backward
  tac "$work/out" | cmp - "$work/forwards" || fail "value --backward"
done
expect 0 find "$work/long.jsonl" value 7 $ends --backward --limit 3
tac "$work/out" | cmp - <(tail -3 "$work/forwards") || fail "value --backward --limit"

# What a step left that another thread followed is its doing; it is told once.
cat >"$work/switch.jsonl" <<END
{"catalog":{"endian":"little","machine":"x86-64"}}
{"seq":0,"kind":"step","tid":1,"pc":"0x1000","opcode":"b978563412",\
"before":{"rip":"0x1000","rcx":"0x0"},"registers":{"rcx":"0x12345678","rip":"0x1005"}}
{"seq":1,"kind":"step","tid":2,"pc":"0x1100","opcode":"90",\
"before":{"rip":"0x1100","rcx":"0x5"},"registers":{"rip":"0x1101"}}
{"seq":2,"kind":"step","tid":1,"pc":"0x1005","opcode":"90","registers":{"rip":"0x1006"}}
{"seq":3,"kind":"step","tid":1,"pc":"0x1006","opcode":"90","registers":{"rip":"0x1007"}}
END
"$tracewell" convert "$work/switch.jsonl" "$work/switch.trace64" 2>/dev/null
# in_switches STEP WHEN FILE: the only hit.
in_switches() {
  expect 0 find "$3" value 0x12345678
  lines 1
  has "step $1  "
  has "$2 rcx"
}
in_switches 0 after "$work/switch.trace64"
in_switches 0 after "$work/switch.jsonl"
# Who begins in between, and so is told what holds, has heard nothing new.
expect 1 find "$work/switch.trace64" value 0x12345678 --from 1
expect 1 find "$work/switch.jsonl" value 0x12345678 --from 1
# Nobody waits for longer than 65536 steps; then it is told where the thread goes on.
for steps in 40000 65535 65536; do
  sed '/"seq":[23]/d' "$work/switch.jsonl" >"$work/far.jsonl"
  awk -v n=$steps 'BEGIN {
    for (i = 1; i < n; ++i)
      print "{\"kind\":\"step\",\"tid\":2,\"pc\":\"0x1101\",\"opcode\":\"ebfe\"}"
    print "{\"kind\":\"step\",\"tid\":1,\"pc\":\"0x1005\",\"opcode\":\"90\"}"
    print "{\"kind\":\"step\",\"tid\":1,\"pc\":\"0x1006\",\"opcode\":\"90\"}"
  }' >>"$work/far.jsonl"
  "$tracewell" convert "$work/far.jsonl" "$work/far$steps.trace64" 2>/dev/null
done
in_switches 0 after "$work/far40000.trace64"
in_switches 0 after "$work/far65535.trace64"
in_switches 65537 before "$work/far65536.trace64"
# What is noted at a hit stands below it; notes beside the trace, and those in it.
cp "$file" "$work/noted.jsonl"
expect 0 note "$work/noted.jsonl" 0 'pushes the key'
expect 0 note "$work/noted.jsonl" 5 'reads it'
expect 0 convert "$work/noted.jsonl" "$work/inside.jsonl"
expect 0 convert "$work/noted.jsonl" "$work/inside.trace64"
rm -f "$work"/inside.*.notes
for trace in "$work/noted.jsonl" "$work/inside.jsonl" "$work/inside.trace64"; do
  # exec and value have each step's hits; reg and bytes look for theirs otherwise.
  for question in 'exec 0x1000,0x102' 'access 0x7000,16' 'reg rsp' 'value 0x2b' 'bytes 2a00'; do
    expect 0 find "$trace" $question
    awk -v question="$question" '
      function check() {
        if (wanted != given) { print "find " question ": \"" given "\" below " line; wrong = 1 }
      }
      /^  note: / { given = given $0; next }
      {
        if (NR > 1) check()
        line = $0
        given = wanted = ""
        if (/(^|by )step 0 /) wanted = "  note: pushes the key"
        if (/(^|by )step 5 /) wanted = "  note: reads it"
        if (wanted != "") notes++
      }
      END {
        check()
        if (!notes) { print "find " question ": no note"; wrong = 1 }
        exit wrong
      }' "$work/out" || fail "notes of find $question in $trace"
    expect 0 find "$trace" $question --json
    python3 -c '
import json, sys
notes = {0: ["pushes the key"], 5: ["reads it"]}
hits = [json.loads(line) for line in open(sys.argv[1])]
hits = [hit.get("written_by", hit) for hit in hits if "step" in hit or "written_by" in hit]
assert hits and all(hit.get("notes") == notes.get(hit["step"]) for hit in hits), hits
assert any("notes" in hit for hit in hits), hits
' "$work/out" || fail "notes of find $question --json in $trace"
  done
done

# A thread's last step does not tell what it changed, and no question has it told: not as a change
# of registers that it leaves alone, and not in one format and not in the other.
cat >"$work/threads.jsonl" <<'END'
{"catalog":{"endian":"little","machine":"x86-64"}}
{"kind":"step","tid":4,"pc":"0x1000","opcode":"90","before":{"rax":"0x5","rbx":"0x1"}}
{"kind":"step","tid":8,"pc":"0x1000","opcode":"90","before":{"rax":"0x7","rbx":"0x2"}}
{"kind":"step","tid":4,"pc":"0x1001","opcode":"48c7c009000000","registers":{"rax":"0x9"}}
{"kind":"step","tid":8,"pc":"0x1001","opcode":"48c7c003000000","registers":{"rax":"0x3"}}
{"kind":"step","tid":4,"pc":"0x1008","opcode":"90"}
{"kind":"step","tid":4,"pc":"0x1009","opcode":"90"}
END
expect 0 convert --style x64dbg "$work/threads.jsonl" "$work/threads.trace64"
expect 0 convert "$work/threads.trace64" "$work/again.jsonl"
for trace in threads.trace64 again.jsonl; do
  expect 0 print --columns step,registers "$work/$trace"
  has '2         rax=0x9'
  ! grep -F '?' "$work/out" || fail "changes of $trace"
  expect 0 find "$work/$trace" reg rax
  [ "$(wc -l <"$work/out")" = 1 ] || fail "rax of $trace: $(cat "$work/out")"
  has 'step 2'
  expect 1 find "$work/$trace" reg rbx
done
finish
