#!/usr/bin/env bash
# What a system call delivers was not there before it, and what it may have changed is only kept.
. "$(dirname "$0")/common.sh"
file=$work/read.jsonl
# Thread 7 writes beside its buffer, calls read(), which fills eight bytes at 0x7000 and changes one
# at 0x7010, and looks at both.
cat >"$file" <<END
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"90"}
{"kind":"step","tid":7,"pc":"0x1001","opcode":"c6042510700000aa",\
"memory":[{"addr":"0x7010","size":1,"access":"write","new":"aa"}]}
{"kind":"step","tid":7,"pc":"0x1009","opcode":"0f05"}
{"kind":"step","tid":7,"pc":"0x100b","opcode":"90"}
{"kind":"step","tid":7,"pc":"0x100c","opcode":"488b042500700000",\
"memory":[{"addr":"0x7000","size":8,"access":"read","old":"6b65793d34320a00"}]}
{"kind":"step","tid":7,"pc":"0x1014","opcode":"8a042510700000",\
"memory":[{"addr":"0x7010","size":1,"access":"read","old":"bb"}]}
{"kind":"step","tid":7,"pc":"0x101b","opcode":"0f05"}
{"kind":"step","tid":7,"pc":"0x101d","opcode":"90"}
END

# bytes STEP ADDR,LEN BYTES STATES: as `at` has them.
bytes() {
  expect 0 at "$file" "$1" --mem "$2" --json
  has "\"bytes\":\"$3\",\"states\":\"$4\""
}
for step in 0 1 2; do
  bytes $step 0x7000,8 '????????????????' '????????'
done
bytes 3 0x7000,8 6b65793d34320a00 iiiiiiii
bytes 4 0x7000,8 6b65793d34320a00 tttttttt
bytes 6 0x7000,8 6b65793d34320a00 tttttttt
bytes 7 0x7000,8 6b65793d34320a00 kkkkkkkk
bytes 0 0x7010,1 '??' '?'
bytes 2 0x7010,1 aa t
bytes 3 0x7010,1 bb i
bytes 8 0x7010,1 bb k
expect 0 at "$file" 3 --mem 0x7000,9
has '  0x7000  6b<65<79<3d<34<32<0a<00<?? '
has '  (< inferred: a later step finds it so'
if grep -qF '(?' "$work/out"; then fail 'nothing is kept there'; fi
expect 0 at "$file" 7 --mem 0x7010,2
has '  0x7010  bb??? '
has '  (? kept: '
expect 0 at "$file" 5 --mem 0x7000,2
has '  0x7000  6b 65 '
if grep -qF '(' "$work/out"; then fail 'all of it is told'; fi

# Where it was, and on what that rests.
expect 0 find "$file" bytes 6b65793d
lines 1
has '0x7000  before steps 3 to 8, in part inferred, in part kept'
expect 0 find --json "$file" bytes 6b65793d
has '"first":3,"last":8,"inferred":true,"kept":true}'
expect 1 find "$file" bytes 6b65793d --to 2
expect 0 find --json "$file" bytes aa
has '"first":2,"last":2,"inferred":false,"kept":false,"written_by"'

# Who changed it: neither instruction.
for what in write access; do
  expect 0 find "$file" $what 0x7010
  has 'step 1  pc 0x1001'
  has 'thread 7  finds 0x7010,1  aa -> bb  (changed by others between steps 2 and 3)'
done
lines 3
expect 0 find "$file" write 0x7010 --backward --limit 1
has 'step 5  pc 0x1014'
has 'changed by others'
expect 0 find --json "$file" write 0x7010 --from 2
lines 1
has '"by":"others","addr":"0x7010","size":1,"since":2,"until":3,"old":"aa","new":"bb"}'
expect 1 find "$file" write 0x7000,8
expect 0 find "$file" read 0x7010
lines 1
if grep -qF 'others' "$work/out"; then fail 'a read is one of the step itself'; fi

# So is it where another thread goes on, and where the instruction is not known.
sed 's/"0f05"/"6690"/' "$file" >"$work/nop.jsonl"
file=$work/nop.jsonl
bytes 0 0x7000,8 6b65793d34320a00 iiiiiiii
bytes 8 0x7010,1 bb t
expect 0 find "$file" write 0x7010
has 'finds 0x7010,1  aa -> bb  (changed by others between steps 4 and 5)'
sed '/"0x100b"/s/"tid":7/"tid":8/' "$work/nop.jsonl" >"$work/threads.jsonl"
file=$work/threads.jsonl
bytes 3 0x7000,8 '????????????????' '????????'
bytes 4 0x7000,8 6b65793d34320a00 tttttttt
bytes 3 0x7010,1 aa k
sed '/"0x100b"/s/"opcode":"90"/"opcode":""/' "$work/nop.jsonl" >"$work/no_code.jsonl"
file=$work/no_code.jsonl
bytes 3 0x7000,8 '????????????????' '????????'
bytes 4 0x7010,1 bb i

# In 32-bit code of Windows, too; and as x64dbg stores it.
expect 0 convert "$work/read.jsonl" "$work/read.trace64"
file=$work/read.trace64
bytes 2 0x7000,8 '????????????????' '????????'
bytes 3 0x7000,8 6b65793d34320a00 iiiiiiii
expect 0 find "$file" write 0x7010
has 'changed by others between steps 2 and 3'
for call in cd2e cd80 0f34 9a000000003300 ea000000003300 cb cf; do
  sed "s/x86-64/i386/; s/0f05/$call/" "$work/read.jsonl" >"$work/narrow.jsonl"
  file=$work/narrow.jsonl
  bytes 2 0x7000,8 '????????????????' '????????'
  bytes 3 0x7000,8 6b65793d34320a00 iiiiiiii
done

# Behind a call that was stepped over, and where a fault was delivered: a handler looks at what the
# kernel has left for it.
cat >"$work/hidden.jsonl" <<END
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"90",\
"memory":[{"addr":"0x9000","size":1,"access":"write","new":"11"}]}
{"kind":"step","tid":7,"pc":"0x1001","opcode":"e8fa0f0000"}
{"kind":"step","tid":7,"pc":"0x1006","opcode":"90",\
"memory":[{"addr":"0x9001","size":1,"access":"read","old":"44"}]}
{"kind":"step","tid":7,"pc":"0x1007","opcode":"90",\
"memory":[{"addr":"0x9000","size":1,"access":"read","old":"22"}]}
{"kind":"step","tid":7,"pc":"0x1008","opcode":"488b00"}
{"kind":"step","tid":7,"pc":"0x5000","opcode":"90",\
"memory":[{"addr":"0x9000","size":1,"access":"read","old":"33"}]}
END
for file in hidden.jsonl hidden.trace64; do
  [ $file = hidden.jsonl ] || expect 0 convert "$work/hidden.jsonl" "$work/$file"
  file=$work/$file
  bytes 1 0x9000,2 '11??' 't?'
  bytes 2 0x9000,2 2244 it
  bytes 4 0x9000,2 2244 tt
  bytes 5 0x9000,2 3344 tk
  expect 0 find "$file" write 0x9000
  has 'finds 0x9000,1  11 -> 22  (changed by others between steps 1 and 2)'
  has 'finds 0x9000,1  22 -> 33  (changed by others between steps 4 and 5)'
done

# Not all of what a step writes was recorded.
cat >"$work/saves.jsonl" <<END
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"90",\
"memory":[{"addr":"0x9000","size":2,"access":"read","old":"1111"}]}
{"kind":"step","tid":7,"pc":"0x1001","opcode":"480fae26","memory_incomplete":true,\
"memory":[{"addr":"0x9000","size":1,"access":"write","new":"22"}]}
{"kind":"step","tid":7,"pc":"0x1005","opcode":"90"}
{"kind":"step","tid":7,"pc":"0x1006","opcode":"90",\
"memory":[{"addr":"0x5000","size":20481,"access":"write"}]}
{"kind":"step","tid":7,"pc":"0x1007","opcode":"90"}
END
file=$work/saves.jsonl
bytes 1 0x9000,2 1111 tt
bytes 2 0x9000,2 2211 tk
expect 0 find "$file" write 0xa000
lines 1
has 'step 3  pc 0x1006'
expect 1 find "$file" write 0xa001

# What is lost behind the last step leaves nothing known there.
cat >"$work/cut.jsonl" <<END
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"e8fb000000","before":{"rax":"0x5"},\
"memory":[{"addr":"0x9000","size":1,"access":"write","new":"11"}]}
{"kind":"step","tid":7,"pc":"0x1100","opcode":"90"}
{"kind":"lost","count":100,"why":"x"}
END
file=$work/cut.jsonl
for n in 1 2; do  # the second time from its index
  bytes 1 0x9000,1 11 t
  bytes 2 0x9000,1 '??' '?'
  expect 0 find "$file" bytes 11
  lines 1
  has '0x9000  before steps 1 to 1, written by step 0'
  expect 2 at "$file" 2
  grep -qF 'nobody knows the registers behind the last step' "$work/err" || fail 'no registers'
  expect 0 at "$file" 2 --stack
  has 'something is lost before step 2: what was called and left then is not known'
done
finish
