#!/usr/bin/env bash
# tracewell at: registers and memory before a step.
. "$(dirname "$0")/common.sh"
# Two threads: 7 pushes 0x2a, calls, reads it back and stores two bytes beside it; 8 changes it.
file=$TRACEWELL_SOURCE/tests/cli/steps.jsonl

expect 0 at "$file" 5
has 'step 5  pc 0x1101  488b442408  mov rax, qword ptr [rsp+0x08]  thread 7'
has '  rax       0x2a'
has '  rsp       0x6ff8'
has '  not known: rcx rdx'
expect 0 at "$file" 6
has '  rax       0x2b'
# Another thread keeps what it had.
expect 0 at "$file" 5 --thread 8
has '  thread 8, which does not run this step:'
has '  rax       0x1'
expect 0 at "$file" 5 --thread 8 --reg rax
has '  thread 8, which does not run this step:'
expect 0 at "$file" 5 --thread 8 --json
has '{"step":5,"tid":8,'
has '"step_tid":7,'
expect 0 at "$file" 5 --thread 7
has '  thread 7:'
expect 0 at "$file" 9 --thread 8 --reg rax
has '  thread 8:'
expect 0 at "$file" 2 --thread 8
has '  not known: rax'

# A thread that is not there, a step that is not, registers that nobody can know.
expect 2 at "$file" 5 --thread 9
has 'there is no thread 9; there are 7, 8' err
cat >"$work/end.jsonl" <<'END'
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"90","before":{"rax":"0x1"},"after_known":false}
END
expect 2 at "$work/end.jsonl" 1
has 'nobody knows the registers behind the last step; it is step 0' err
expect 0 at "$work/end.jsonl" 0

# By name: whole ones, parts, and what is not shown otherwise.
cat >"$work/segments.jsonl" <<'END'
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"90","before":{"rax":"0x1234","cs":"0x33"}}
END
expect 0 at "$work/segments.jsonl" 0
has '  not shown without --reg: cs'
if grep -q '^  cs ' "$work/out"; then fail 'cs is shown'; fi
expect 0 at "$work/segments.jsonl" 0 --reg CS,ah --reg rbx
printf '  %-9s %s\n' cs 0x33 ah 0x12 rbx 'not known' >"$work/wanted"
tail -n +2 "$work/out" | cmp - "$work/wanted" || fail "$(cat "$work/out")"
expect 0 at "$work/segments.jsonl" 0 --json --reg ah
has '"registers":{"ah":"0x12"}'
# A list is one word.
expect 0 at --reg rax "$work/segments.jsonl" 0 --reg cs,ah --json
has '"registers":{"rax":"0x1234","cs":"0x33","ah":"0x12"}'
expect 2 at "$work/segments.jsonl" 0 --mem 0x7000 4
has 'not expected: 4' err
expect 2 at "$work/segments.jsonl" 0 --reg nope
has 'no register nope' err
expect 0 print "$work/segments.jsonl"
if grep -q 'cs=' "$work/out"; then fail 'print shows cs'; fi
expect 1 find "$work/segments.jsonl" value 0x33

# Vectors of which the trace has the halves, flags, and addresses that registers lead to.
expect 0 convert "$TRACEWELL_SOURCE/tests/formats/data/synthetic_single.trace64" \
  "$work/catalog.jsonl" --to 0
head -n 1 "$work/catalog.jsonl" >"$work/vectors.jsonl"  # which names AVX registers
before='"rsp":"0x7000","rcx":"0x2","rbx":"0x6ff0","eflags":"0x246"'
vectors='"xmm1":"0x11","ymm1h":"0x22","xmm2":"0x33"'
memory='{"addr":"0x7000","access":"read","size":8,"old":"0102030405060708"}'
printf '{"kind":"step","tid":7,"pc":"0x1000","opcode":"90","before":{%s,%s},"memory":[%s]}\n' \
  "$before" "$vectors" "$memory" >>"$work/vectors.jsonl"
expect 0 at "$work/vectors.jsonl" 0 --reg ymm1,xmm1,zf,CF,rflags,ymm2,of
printf '  %-9s %s\n' ymm1 0x2200000000000000000000000000000011 xmm1 0x11 zf 0x1 cf 0x0 \
  rflags 0x246 ymm2 'not known' of 0x0 >"$work/wanted"
tail -n +2 "$work/out" | cmp - "$work/wanted" || fail "$(cat "$work/out")"
expect 0 at "$work/vectors.jsonl" 0 --reg '$ymm1,zf' --json
has '"registers":{"ymm1":"0x2200000000000000000000000000000011","zf":"0x1"}'
expect 2 at "$work/vectors.jsonl" 0 --reg ymm99
has 'no register ymm99' err
expect 0 at "$work/vectors.jsonl" 0 --mem '$rsp,8'
has '  0x7000  01 02 03 04 05 06 07 08 '
has '| $rsp'
for place in '$rsp+4,2' '$rbx+$rcx*8+4,2' '$rsp-0x10+20,2' '$RSP+4,2'; do
  expect 0 at "$work/vectors.jsonl" 0 --mem "$place"
  has '  0x7004  05 06 '
done
expect 0 at "$work/vectors.jsonl" 0 --mem '$rsp+4,2' --json
has '"memory":[{"addr":"0x7004","bytes":"0506","states":"tt","expression":"$rsp+4"}]'
expect 2 at "$work/vectors.jsonl" 0 --mem '$rdx,8'
has 'rdx is not known there' err
expect 2 at "$work/vectors.jsonl" 0 --mem '$nope'
has 'no register $nope' err
for place in '$rsp+' '$rsp*' '$rsp+x' '$xmm1' '$'; do
  expect 2 at "$work/vectors.jsonl" 0 --mem "$place"
done

# What nobody has told yet is filled in from what is found later, but not from behind another
# thread; the rest is not known.
expect 0 at "$file" 0 --mem 0x7000,12
has '  0x7000  ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ??             |????????????|'
expect 0 at "$file" 3 --mem 0x7000,12
has '  0x7000  2a<00?00?00?00?00?00?00??? ?? ?? ??             |*.......????|'
expect 0 at "$file" 5 --mem 0x6ff8,24 --mem 0x1
has '  0x6ff8  06<10<00<00<00<00<00<00<2b 00 00 00 00 00 00 00 |........+.......|'
has '  0x7008  00<00<?? ?? ?? ?? ?? ??'
has '  0x1  ?? ??'
lines 5
# As somebody meant it who left out the 0x.
expect 0 at "$file" 5 --mem 404000,8
has 'nothing is known of the memory at 0x62a20; is 404000 hexadecimal? Then it is 0x404000' err
expect 0 at "$file" 5 --mem 0x404000 --mem 28664,24 --mem 28680,4
[ ! -s "$work/err" ] || fail "no other number is meant: $(cat "$work/err")"
expect 0 at "$file" 9 --mem 0x7008,4
has 'behind the last step, 8'
has '  0x7008  68 69 ?? ??                                     |hi??|'
# Seen by the step itself: memory is as before it.
expect 0 at "$file" 4 --mem 0x7000,1 --regs
has '  0x7000  2a '
has '  rsp       0x9000'

expect 0 at --json "$file" 5 --mem 28664,24 --regs
python3 - "$work/out" <<'PYTHON' || fail 'at --json'
import json, sys
state = json.load(open(sys.argv[1]))
assert (state["step"], state["tid"], state["pc"]) == (5, 7, "0x1101"), state
assert state["registers"]["rsp"] == "0x6ff8" and state["registers"]["rcx"] is None
assert state["memory"] == [
    {"addr": "0x6ff8", "bytes": "06100000000000002b000000000000000000????????????",
     "states": "iiiiiiiittttttttii??????"}
]
PYTHON

# null where nobody knows the thread.
sed 's/"tid":[0-9]*,//' "$file" >"$work/unknown.jsonl"
for step in 5 9; do
  expect 0 at --json "$work/unknown.jsonl" $step --mem 0x7000
  has '"tid":null'
done

# The calls that are open: those of `calls` that have come and not ended.
expect 0 at "$file" 5 --stack
cmp - "$work/out" <<'TEXT' || fail "at --stack: $(cat "$work/out")"
step 5  pc 0x1101  488b442408  mov rax, qword ptr [rsp+0x08]  thread 7
  #0  0x1100  called at step 1 from 0x1001, back to 0x1006  sp 0x7000
  ..  what was called before step 0, the first of thread 7, is not known
TEXT
expect 0 at "$file" 5 --stack --json
has '"stack":{"depth":1,"frames":[{"depth":0,"first":2,"function":"0x1100","back":"0x1006",'
has '"call":{"step":1,"pc":"0x1001"},"sp":"0x7000"}],"begin":0,"in_flight":false}}'
expect 0 at "$file" 8 --stack --mem 0x7000,1
lines 3
expect 0 at "$file" 4 --stack --thread 7 --regs
has '  #0  0x1100  called at step 1 '
[ "$(grep -c 'thread 7, which does not run this step:' "$work/out")" = 1 ] || fail 'whose, once'
expect 0 at "$file" 1 --stack --thread 8
has '  no step of thread 8 is before this one: its calls are not known'
expect 2 at "$file" 1 --frames 3
expect 2 at "$file" 1 --stack --frames 0
# Calls within calls, a hole, and a call that nobody has seen arrive.
python3 - >"$work/stack.jsonl" <<'PYTHON'
import json
print('{"catalog":{"machine":"x86-64"}}')
def step(pc, opcode):
    print(json.dumps({"kind": "step", "tid": 7, "pc": hex(pc), "opcode": opcode}))
for i in range(5):
    step(0x1000 + 0x100 * i, "e8fb000000")
print('{"kind":"lost","message":"gap"}')
step(0x1500, "90")
step(0x1501, "e8fb000000")
PYTHON
expect 0 at "$work/stack.jsonl" 5 --stack --frames 2
tail -n +2 "$work/out" | cmp - <(cat <<'TEXT'
  ..  something is lost before step 5: what was called and left then is not known
  #0  0x1400  called at step 3 from 0x1300, back to 0x1305  sp not known
  #1  0x1300  called at step 2 from 0x1200, back to 0x1205  sp not known
  ..  2 more, the outer ones; --frames N shows so many
TEXT
) || fail "at --stack with a hole: $(cat "$work/out")"
expect 0 at "$work/stack.jsonl" 5 --stack --json
has '"frames":[{"depth":3,"first":4,'
has '"sp":null,"lost":5}'
expect 0 at "$work/stack.jsonl" 7 --stack
has '  ..  the last instruction is a call or a return, and where it led is not known'
sed 's/x86-64/aarch64/' "$work/stack.jsonl" >"$work/other.jsonl"
expect 3 at "$work/other.jsonl" 5 --stack
has 'calls and returns of aarch64 are not known' err
# The same frames as the tree of calls, by the index of a file.
python3 - "$tracewell" "$TRACEWELL_SOURCE/tests/formats/data/synthetic_threads_fixed.trace64" \
  "$work/run.trace64" <<'PYTHON' || fail 'at --stack and calls'
import json, shutil, subprocess, sys
program, sample, trace = sys.argv[1:]
shutil.copy(sample, trace)
def ask(*words):
    done = subprocess.run([program, *words, "--json"], stdout=subprocess.PIPE, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]
calls = ask("calls", trace)
end = max(one["last"] for one in calls)  # of the trace, for those that do not return
steps = [min(max(0, one[key] + more), end) for one in calls for key in ("first", "last")
         for more in (-1, 0, 1)]
assert len(steps) > 8, steps
for step in steps:
    at, = ask("at", trace, str(step), "--stack")
    open_calls = [one for one in calls
                  if one["tid"] == at["tid"] and one["first"] <= step <= one["last"]]
    assert at["stack"]["depth"] == len(open_calls), (step, at, open_calls)
    for frame, call in zip(reversed(at["stack"]["frames"]), open_calls):
        assert all(frame[key] == call[key] for key in ("first", "function", "back", "depth"))
        assert frame["call"]["step"] == call["call"]["step"], (frame, call)
PYTHON

# From a pipe.
"$tracewell" at - 5 --mem 0x7000,1 <"$file" >"$work/out" || fail 'standard input'
has '  0x7000  2b '

expect 2 at "$file" 10
has 'there is no step 10: the trace has 9' err
expect 2 at "$file" x
expect 2 at "$file" 1 --mem 0x7000,0
expect 2 at "$file" 1 --mem 0x7000,10000000
expect 2 at "$file"
expect 4 at "$work/none" 1
expect 3 at "$cases/tfile/gdb-tsave/input.tf" 1
has 'not a trace of executed instructions' err
head -1 "$file" >"$work/empty.jsonl"
expect 2 at "$work/empty.jsonl" 0

# A fault that a file has everywhere is told once, where nobody asked for it.
tidbug=$work/tidbug.trace64
cp "$TRACEWELL_SOURCE/tests/formats/data/synthetic_threads_tidbug.trace64" "$tidbug"
for question in "at $tidbug 5" "find $tidbug exec 0,0xffffffffffffffff --limit 1" \
  "print $tidbug --to 2"; do
  expect 0 $question
  has "36 thread ids put right; 'tracewell check $tidbug' lists them" err
  [ "$(wc -l <"$work/err")" = 1 ] || fail "$question: $(wc -l <"$work/err") lines of warnings"
done
expect 1 check "$tidbug"
has ': faulty, 36 problems; 4999 events can be read'
[ "$(grep -c hidden-thread-id "$work/out")" = 36 ] || fail 'check lists them all'
# Addresses are as wide as the trace's.
cat >"$work/narrow.jsonl" <<'EOF'
{"catalog":{"machine":"i386","address_bytes":4}}
{"kind":"step","pc":"0x1","opcode":"90"}
EOF
expect 0 at "$work/narrow.jsonl" 0 --mem 0xfffffff8,8
for range in 0x100000000 0xfffffff9,8; do
  expect 2 at "$work/narrow.jsonl" 0 --mem $range
  has 'the addresses of this trace have 32 bits' err
  expect 2 find "$work/narrow.jsonl" write $range
  has "find write $range: the addresses" err
done
# Of other kinds, the first few.
{
  head -1 "$file"
  for i in 1 2 3 4 5 6 7 8; do echo 'no event'; done
  tail -n +2 "$file"
} >"$work/bad.jsonl"
expect 0 at "$work/bad.jsonl" 1
[ "$(grep -c 'damage bad-' "$work/err")" = 3 ] || fail "$(cat "$work/err")"
has "5 more of bad-" err
finish
