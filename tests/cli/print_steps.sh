#!/usr/bin/env bash
# tracewell print of executed instructions: disassembly, columns, JSON, names, and --where.
. "$(dirname "$0")/common.sh"
file=$TRACEWELL_SOURCE/tests/cli/steps.jsonl

expect 0 print "$file"
has 'step 0  pc 0x1000  50  push rax  rsp=0x7000  [0x7000]<-2a00000000000000  thread 7'
has 'step 7  pc 0x1110  c3  ret'

expect 0 print "$file" --columns step,thread,address,disassembly,registers,memory
lines 10
head -1 "$work/out" | grep -q '^step      thread  address  *disassembly  *registers  *memory$' ||
  fail "$(head -1 "$work/out")"
sed -n 2p "$work/out" | tr -s ' ' >"$work/row"
grep -qx '0 7 0x1000 push rax rsp=0x7000 \[0x7000\]<-2a00000000000000' "$work/row" ||
  fail "$(cat "$work/row")"
expect 0 print "$file" --columns before,opcode
has 'rax=0x2a rbx=0x5 rsp=0x7008  50'
expect 2 print "$file" --columns nothing
has 'there is no column nothing; there are step, thread, address, module' err
expect 2 print "$file" --columns step,index
expect 2 print "$file" --format csv --json

# Times before the epoch, to the lowest one.
cat >"$work/times.jsonl" <<'END'
{"catalog":{"endian":"little","machine":"x86-64"}}
{"kind":"mark","text":"a","time_ns":-9223372036854775808}
{"kind":"mark","text":"b","time_ns":-500000000}
{"kind":"mark","text":"c","time_ns":-1}
{"kind":"mark","text":"d","time_ns":1}
END
expect 0 print "$work/times.jsonl"
for time in -9223372036.854775808 -0.500000000 -0.000000001 ' 0.000000001'; do
  has "$time s" || cat "$work/out"
done

expect 0 print "$file" --json
lines 9
python3 - "$work/out" <<'PYTHON' || fail 'print --json'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert list(rows[0]) == ["step", "tid", "pc", "module", "symbol", "source", "opcode",
                         "disassembly", "registers", "before", "memory", "note"], rows[0]
assert rows[0]["pc"] == "0x1000" and rows[0]["disassembly"] == "push rax", rows[0]
assert rows[0]["registers"] == {"rsp": "0x7000"} and rows[0]["module"] is None, rows[0]
assert rows[0]["memory"] == [{"addr": "0x7000", "size": 8, "access": "write",
                              "new": "2a00000000000000"}], rows[0]
assert rows[4]["memory"][0]["old"] == "2a", rows[4]
PYTHON
expect 0 print "$file" --json --columns pc,step
head -1 "$work/out" | grep -qx '{"pc":"0x1000","step":0}' || fail "$(head -1 "$work/out")"
# What is no instruction keeps its own form.
expect 0 print "$cases/tfile/gdb-tsave/input.tf" --json --to 0
has '"kind":"frame"'

# Nothing of it is lost, nor its order, where there are no instructions; marks are some.
hooks=$work/hooks.jsonl
{ head -1 "$TRACEWELL_SOURCE/tests/cli/hooks.jsonl"
  echo '{"kind":"mark","text":"TRACE ON channel 0","time_ns":1003800000}'
  tail -n +2 "$TRACEWELL_SOURCE/tests/cli/hooks.jsonl" | head -2
  echo '{"kind":"mark","text":"process 50: /usr/bin/first","tid":5,"cpu":0,"time_ns":1003800001}'
  echo '{"kind":"mark","text":"TRACE OFF channel 0","time_ns":2003874300}'; } >"$hooks"
printf '%s\n' '{"catalog":{"machine":"x86-64"}}' '{"kind":"mark","text":"on"}' \
  '{"kind":"lost","count":1,"why":"full"}' '{"kind":"mark","text":"a"}' \
  '{"kind":"mark","text":"b"}' \
  >"$work/marks.jsonl"
for one in "$hooks" "$work/marks.jsonl"; do
  expect 0 print "$one" --format jsonl
  tail -n +2 "$work/out" >"$work/as_jsonl"
  expect 0 print "$one" --json
  cmp "$work/out" "$work/as_jsonl" || fail "print --json $one"
  expect 0 print "$one" --json --where 'kind == "mark"'
  grep '"kind":"mark"' "$work/as_jsonl" | cmp - "$work/out" ||
    fail "marks of $one: $(cat "$work/out")"
done
# Columns are of instructions; a trace of others has none, as `at` and its like say.
for one in "$hooks" "$cases/tfile/gdb-tsave/input.tf"; do
  for json in '' --json; do
    # shellcheck disable=SC2086
    expect 3 print "$one" $json --columns step,pc
    has 'not a trace of executed instructions; --columns are of these' err
    ! grep -q '"frame"\|"hook"\|not an' "$work/out" || fail "columns: $(cat "$work/out")"
  done
done
[ ! -s "$work/out" ] || fail "columns: $(cat "$work/out")"
expect 3 print "$cases/tfile/gdb-tsave/input.tf" --columns step
[ ! -s "$work/out" ] || fail "columns: $(cat "$work/out")"
expect 0 print "$work/marks.jsonl" --columns step,note
lines 5
has '-- 0 on'
has '-- 1 lost: full'
# What nobody says when is noted at the step behind it; that of a time is no step's.
printf '%s\n' '{"catalog":{"machine":"x86-64"}}' '{"kind":"mark","text":"at 0"}' \
  '{"kind":"mark","text":"timed","time_ns":5}' '{"kind":"mark","text":"also"}' \
  '{"kind":"step","pc":"0x10","opcode":"90"}' '{"kind":"mark","text":"behind"}' >"$work/mixed.jsonl"
expect 0 print "$work/mixed.jsonl" --json --columns step,note
printf '%s\n' '{"step":0,"note":"at 0\nalso"}' '{"step":null,"note":"behind"}' >"$work/wanted"
grep '"step":' "$work/out" | cmp - "$work/wanted" || fail "$(cat "$work/out")"
has '"text":"timed"'

# chosen NUMBERS EXPR: which steps are left, in the table and in a written trace.
sample=$work/sample.trace64  # an index comes to stand beside it
cp "$TRACEWELL_SOURCE/tests/formats/data/synthetic_threads_fixed.trace64" "$sample"
chosen() {
  expect 0 print "$file" --where "$2" --columns step
  [ "$(tail -n +2 "$work/out" | tr -s '\n ' ' ')" = "$1 " ] ||
    fail "$2: $(tail -n +2 "$work/out" | tr '\n' ' ')"
}
chosen '0 1 2 8' 'pc in 0x1000..0x1100'
chosen '5 6' 'pc in 0x1101,8'
chosen '3 4' 'tid == 8'
chosen '2 3 8' 'mnemonic == "nop"'
chosen '1 7' 'mnemonic =~ "^(call|ret)$"'
chosen '5' 'disassembly =~ "\[rsp\+0x08\]"'
chosen '5 6 7' '$rax == 0x2b'  # nobody knows what the last step left
chosen '6 7 8' '$rax.before == 0x2b'
chosen '0 1 2' 'rax == 0x2a && tid == 7'
chosen '5' '$rax != $rax.before'
chosen '0 1 2 5 6 7' '$al in 0x2a..0x2b && tid == 7'
chosen '0 4 6' 'write[0x7000..0x7fff]'
chosen '5' 'read[0x7003]'
chosen '5' 'step == 5'
chosen '5' 'seq == 5'
chosen '0' 'write == 0x2a'
chosen '6' 'access[0x7008,1] == 0x6968'
chosen '0 2 3 8' '!(read || write[0x6ff8]) && !(pc in 0x2001) && pc != 0x1106'
expect 1 print "$file" --where 'read[0x9000]'
has 'no step fits --' err
expect 2 print "$file" --where 'mnemonic =~ "["'
has 'this is no pattern' err
expect 2 print "$file" --where 'text =~ "a{1000}{1000}"'
has '"a{1000}{1000}": something is repeated more than 1000 times' err

# The same questions of a trace of x64dbg's, and of the smaller one that they make: registers and
# memory of each step are those that it had.
state() {
  "$tracewell" at "$1" "$2" --json | python3 -c '
import json, sys
state = json.load(sys.stdin)
for key in ("gs_base", "x64dbg_rest"):
    state["registers"].pop(key, None)
print(state["tid"], state["pc"], state["opcode"], state["registers"])'
}
for where in 'mnemonic =~ "^(mov|push)" && tid != 0' '$rax.before >= 0x100 && $rcx == $rcx.before' \
  'write && access > 0x1000' 'seq < 700 || pc in 0..0xffffffffffffffff && seq > 4000'; do
  expect 0 print "$sample" --where "$where" --columns step
  tail -n +2 "$work/out" | tr -d ' ' >"$work/numbers"
  [ -s "$work/numbers" ] || fail "$where: nothing"
  rm -f "$work/part.trace64"*
  expect 0 convert "$sample" "$work/part.trace64" --where "$where"
  expect 0 check "$work/part.trace64"
  count=$(wc -l <"$work/numbers")
  has "sound, $count events"
  for place in 1 2 $((count / 2 + 1)) "$count"; do
    number=$(sed -n "${place}p" "$work/numbers")
    [ "$(state "$sample" "$number")" = "$(state "$work/part.trace64" $((place - 1)))" ] ||
      fail "$where: step $number is another as step $((place - 1))"
  done
  expect 0 print "$work/part.trace64" --where "$where" --columns step
done

# What a step left is known also where another thread goes on, but for each thread's last step.
expect 0 print "$sample"
threads=$(grep -o 'thread [0-9]*$' "$work/out" | sort -u | wc -l)
switches=$(grep -o '^step.*thread [0-9]*$' "$work/out" | sed 's/.*thread //' | uniq | wc -l)
[ "$threads" -gt 1 ] && [ "$switches" -gt 20 ] || fail "$threads threads, $switches switches"
[ "$(grep -c 'what else it changed is not known' "$work/out")" = "$threads" ] ||
  fail 'not known where another thread goes on'
expect 0 convert "$sample" "$work/sample.jsonl"
[ "$(grep -c '"after_known":false' "$work/sample.jsonl")" = "$threads" ] || fail 'in JSON lines'

# A pipe gets its first lines before the trace is at its end.
mkfifo "$work/in"
"$tracewell" print "$sample" --where 'seq == 3 || seq == 4900' 2>/dev/null | head -1 >"$work/out"
has 'step 3 '
"$tracewell" print - --columns step <"$sample" >"$work/out" || fail 'from a pipe'
lines 5000

# --limit ends behind so many steps, also of those that are chosen, and with what is noted at them.
limited() {
  expect 0 print "$@"
  grep -o '^ *[0-9][0-9]*\|^{"step":[0-9]*\|"seq":[0-9]*' "$work/out" | tr -dc '0-9\n' | xargs \
    >"$work/numbers"
}
cp "$file" "$work/noted.jsonl"
expect 0 note "$work/noted.jsonl" 1 'a note'
expect 0 note "$work/noted.jsonl" 2 'another'
limited "$work/noted.jsonl" --columns step,note --limit 2
[ "$(cat "$work/numbers")" = '0 1' ] || fail "--limit 2: $(cat "$work/numbers")"
has 'a note'
grep -q another "$work/out" && fail 'a note at a step that is not shown'
limited "$work/noted.jsonl" --json --limit 3
[ "$(cat "$work/numbers")" = '0 1 2' ] || fail "--json --limit 3: $(cat "$work/numbers")"
expect 0 print "$work/noted.jsonl" --where 'text =~ "note|other"' --limit 1
lines 1
limited "$file" --format jsonl --limit 1
[ "$(cat "$work/numbers")" = '0' ] || fail "--format jsonl --limit 1: $(cat "$work/numbers")"
limited "$sample" --columns step --from 7 --where 'pc' --limit 0x2
[ "$(cat "$work/numbers")" = '7 8' ] || fail "--from 7 --limit 2: $(cat "$work/numbers")"
limited "$sample" --columns step --limit 6000
lines 5000
expect 1 print "$sample" --where 'seq == 5000' --limit 1
"$tracewell" print - --columns step --limit 3 <"$sample" >"$work/out" || fail '--limit from a pipe'
lines 4
expect 0 print "$cases/tfile/gdb-tsave/input.tf" --format csv --limit 2
lines 3

# Ctrl-C: whole lines, no half file, and whoever waits sees the signal. The steps come from a pipe
# that is held open, so that there is always more to come.
python3 - "$tracewell" "$sample" "$work" <<'PYTHON' || fail 'Ctrl-C'
import os, signal, subprocess, sys
tracewell, sample, work = sys.argv[1:]
# Standard output is a pipe that nobody empties: after its first lines the program waits in there.
run = subprocess.Popen([tracewell, "print", sample], stdout=subprocess.PIPE)
first = run.stdout.readline()
run.send_signal(signal.SIGINT)
rest = first + run.stdout.read()
run.wait()
assert rest.endswith(b"\n"), rest[-80:]
assert all(line.split()[0] in (b"step", b"before:", b"mark") for line in rest.splitlines())
assert run.returncode in (-signal.SIGINT, 0), run.returncode
assert len(rest.splitlines()) < 5000 or run.returncode == 0
PYTHON
finish
