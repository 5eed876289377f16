#!/usr/bin/env bash
# labels: answers
# tracewell diff
. "$(dirname "$0")/common.sh"
squares=$TRACEWELL_SOURCE/examples/travel/squares.py
# same_text NAME: the last output is the golden.
same_text() {
  local golden=$TRACEWELL_SOURCE/tests/cli/diff/$1
  [ "${TRACEWELL_RENEW:-}" = 1 ] && cp "$work/out" "$golden"
  diff -u "$golden" "$work/out" || fail "not as in $golden"
}

python3 "$squares" >"$work/a.jsonl"
# Two rounds more, and everything elsewhere: the program and its data.
sed 's/0x7F0000, 4)/0x7F0000, 6)/' "$squares" | python3 - >"$work/b.jsonl"
sed 's/0x40\([0-9a-f]\{4\}\)"/0x7ff640\1"/g; s/0x7f\([0-9a-f]\{4\}\)"/0x1207f\1"/g' \
  "$work/b.jsonl" >"$work/moved.jsonl"

expect 0 diff "$work/a.jsonl" "$work/a.jsonl"
has 'thread 100 | 100: 26 steps are the same'
has 'the same'
expect 1 diff "$work/a.jsonl" "$work/b.jsonl"
same_text loop.txt
expect 1 diff "$work/a.jsonl" "$work/moved.jsonl"
same_text moved.txt
expect 1 diff --json "$work/a.jsonl" "$work/moved.jsonl"
same_text moved.json
expect 1 diff --first --json "$work/b.jsonl" "$work/a.jsonl"
has '"times_a": 6'
has '"times_b": 4'
# The constant in the code still differs.
expect 1 diff --ignore-loops "$work/a.jsonl" "$work/b.jsonl"
has '1 step ran other instructions at the same place, first step 0 at 0x401000'
if grep -q 'loop at' "$work/out"; then fail '--ignore-loops'; fi

# Registers that are no causes, and none at all.
expect 1 diff "$work/a.jsonl" "$work/moved.jsonl" --ignore-registers rdx,rcx
has 'because $eflags (ZF)'
if grep -qF '$rcx' "$work/out"; then fail '--ignore-registers'; fi
expect 1 diff --ignore-registers rdx,rcx "$work/a.jsonl" "$work/moved.jsonl"
has 'because $eflags (ZF)'
if grep -qF '$rcx' "$work/out"; then fail '--ignore-registers in front'; fi
for no_cause in '--ignore-registers eflags' --ignore-values; do
  expect 1 diff "$work/a.jsonl" "$work/moved.jsonl" $no_cause
  has '4 | 6 times'
  if grep -qF 'because' "$work/out"; then fail "$no_cause"; fi
done
expect 2 diff "$work/a.jsonl" "$work/moved.jsonl" --ignore-registers rcx,nope
has 'no register nope' err

# Another format of the same trace is no difference; the look ahead and back may be short.
expect 0 convert "$work/a.jsonl" "$work/a.trace64"
expect 0 convert "$work/moved.jsonl" "$work/moved.trace64"
expect 0 diff "$work/a.trace64" "$work/a.jsonl"
expect 1 diff "$work/a.trace64" "$work/moved.trace64"
has '4 | 6 times'
expect 1 diff --window 1 --look-back 0 --most 0 "$work/a.trace64" "$work/moved.trace64"
has 'and 1 difference more'

# What one trace does not tell is no difference: the opcodes, and which thread it was.
grep -v '"tid": 200' "$work/a.jsonl" >"$work/one.jsonl"
expect 0 convert "$work/one.jsonl" "$work/one.tenet"
expect 0 diff "$work/one.tenet" "$work/one.jsonl"
has 'thread not known | 100: 26 steps are the same'
if grep -q 'other instructions' "$work/out"; then fail 'an opcode that nobody knows'; fi
expect 0 diff "$work/one.jsonl" "$work/one.tenet"
has 'thread 100 | not known: 26 steps are the same'
expect 0 diff "$work/one.jsonl" "$work/one.tenet" --json
has '"tid_a": 100'
has '"tid_b": null'
expect 0 diff "$work/one.tenet" "$work/one.tenet"
[ "$(head -1 "$work/out")" = '26 steps are the same' ] || fail "without threads: $(cat "$work/out")"
expect 1 diff "$work/one.tenet" "$work/b.jsonl"
has 'loop at 0x401005: 4 | 6 times, after step 24 at 0x401018 | 44 at 0x401018 (jnz 0x401005)'
has 'together again: step'
has 'because $rcx = 0x1 | 0x3, read by'
# Another program is one all the same.
sed 's/0x401008/0x401108/' "$work/b.jsonl" >"$work/other.jsonl"
expect 1 diff "$work/one.tenet" "$work/other.jsonl"
has 'the runs part'

# What is behind the first difference is not counted.
expect 1 diff --first "$work/a.jsonl" "$work/b.jsonl"
has 'thread 100 | 100: 25 steps are the same before the first difference'
has '    together again: step 45'
has 'thread 200 | 200, and any that begins later: not compared (--first)'
expect 1 diff --first --json "$work/a.jsonl" "$work/b.jsonl"
has '"not_compared_from"'
grep -v '"tid": 200' "$work/b.jsonl" >"$work/one_b.jsonl"
expect 1 diff --first "$work/one.jsonl" "$work/one_b.jsonl"
if grep -q 'not compared' "$work/out"; then fail 'a thread that is not there'; fi
expect 0 diff --first "$work/a.jsonl" "$work/a.jsonl"
has 'thread 100 | 100: 26 steps are the same'

# Runs that do not meet again; and how far was looked.
way() {
  echo '{"catalog":{"machine":"x86-64","endian":"little"}}'
  awk -v at="$1" 'BEGIN { for (i = 0; i < 100; i++)
    printf "{\"kind\":\"step\",\"pc\":\"0x%x\",\"opcode\":\"90\"}\n",
           (i < 20 ? 4096 : at) + 3 * i }'
}
way 8192 >"$work/one.jsonl"
way 20001 >"$work/other.jsonl"
expect 1 diff "$work/one.jsonl" "$work/other.jsonl"
has 'the runs do not meet again'
expect 1 diff "$work/one.jsonl" "$work/other.jsonl" --window 20
has 'not seen to meet again within 20 steps; --window N looks further (up to 16777216)'
expect 1 diff "$work/one.jsonl" "$work/other.jsonl" --window 20 --json
has '"given_up_after": 20'

# Steps that are missing in one of them are no parting of the runs.
awk 'NR == 32 { print "{\"kind\":\"lost\",\"count\":7}" } NR < 32 || NR > 38' \
  "$work/one.jsonl" >"$work/hole.jsonl"
expect 1 diff "$work/hole.jsonl" "$work/one.jsonl"
has '7 steps are missing in A in front of step 30: cannot tell whether the runs differ, after'
has '    B: step 30 at 0x205a (nop), 7 steps of its own'
has 'not known: steps are missing'
if grep -q 'the runs part\|^different' "$work/out"; then fail 'missing steps are no parting'; fi
expect 1 diff --json "$work/one.jsonl" "$work/hole.jsonl"
has '"undecided": true'
has '"kind": "missing"'
has '"before_step": 30'
has '"steps": 7'
expect 0 convert "$work/hole.jsonl" "$work/hole.trace64"
expect 1 diff "$work/hole.trace64" "$work/one.jsonl"
has 'steps are missing in A in front of step 30: cannot tell whether the runs differ'
expect 1 diff "$work/hole.jsonl" "$work/other.jsonl"
has 'different'
# A thread that had not begun by then; two that are cut at the same place.
whole=$TRACEWELL_SOURCE/tests/formats/data/synthetic_threads_fixed.trace64
head -c 2500 "$whole" >"$work/early.trace64"
expect 1 diff "$whole" "$work/early.trace64"
has ': cannot tell whether it ran there'
has 'not known: steps are missing'
expect 1 diff "$work/early.trace64" "$work/early.trace64"
has 'what comes then is missing in both'
has 'not known: steps are missing (A lacks steps, the first of them in front of step '
# So is what both lack in their midst: nobody knows that these are the same steps.
expect 1 diff "$work/hole.jsonl" "$work/hole.jsonl"
has '93 steps are the same'
has '7 steps are missing in A in front of step 30, 7 steps are missing in B in front of step 30: c'
has '; all that is there is the same'
has 'not known: steps are missing (A lacks 7 steps, the first of them in front of step 30; B lacks'
if grep -q '^the same' "$work/out"; then fail 'nobody knows that'; fi
expect 1 diff --json "$work/hole.jsonl" "$work/hole.jsonl"
has '"same": false'
has '"undecided": true'
[ "$(grep -c '"before_step": 30' "$work/out")" = 4 ] || fail "in the whole, and in the thread"
for damaged in hole.trace64 hole.jsonl; do
  expect 1 diff "$work/hole.trace64" "$work/$damaged"
  has 'not known: steps are missing'
done
# A trace64 whose midst is gone, of threads, without any difference in what is left.
{ head -c 2500 "$whole"; tail -c +3001 "$whole"; } >"$work/midst.trace64"
expect 1 diff "$work/midst.trace64" "$work/midst.trace64"
has 'not known: steps are missing'
if grep -q '^the same\|^different' "$work/out"; then fail 'a trace that lacks steps'; fi
expect 1 diff --first "$work/midst.trace64" "$work/midst.trace64"
has 'not known: steps are missing'
# A cut file, a padded one, and what was made of them lack steps at their end.
whole=$TRACEWELL_SOURCE/tests/formats/data/synthetic_single.trace64
head -c 100000 "$whole" >"$work/cut.trace64"
{ cat "$work/cut.trace64"; head -c 12000 /dev/zero; } >"$work/padded.trace64"
for one in cut padded; do
  expect 1 repair "$work/$one.trace64" "$work/$one.saved.trace64"
  expect 0 convert "$work/$one.trace64" "$work/$one.jsonl"
  for file in "$work/$one.trace64" "$work/$one.saved.trace64" "$work/$one.jsonl"; do
    expect 1 diff "$whole" "$file"
    has 'steps are missing in B in front of step'
    has 'not known: steps are missing'
  done
done
# Behind very many holes, not all can be looked at as far as behind a few; that is said.
holes() {  # FILE STEPS LOST
  python3 - "$@" <<'PYTHON'
import sys
with open(sys.argv[1], "w") as out:
    out.write('{"catalog":{"machine":"x86-64","registers":[{"name":"rip","size":8}]}}\n')
    for k in range(int(sys.argv[2])):
        if k % 10 == 9:
            out.write(f'{{"kind":"lost","count":{sys.argv[3]}}}\n')
        out.write(f'{{"kind":"step","tid":1,"pc":"{0x1000 + k % 100:#x}"}}\n')
PYTHON
}
for steps in 100 10000; do
  holes "$work/few.jsonl" "$steps" 3
  holes "$work/more.jsonl" "$steps" 4
  expect 1 diff "$work/few.jsonl" "$work/more.jsonl"
  has 'not known: steps are missing'
  [ "$steps" = 100 ] || has 'there is too much to compare behind all holes'
  expect 1 diff --json "$work/few.jsonl" "$work/more.jsonl"
  case $steps in
    100) has '"short_sighted": false' ;;
    *) has '"short_sighted": true' ;;
  esac
done
# Nor can one be both sides when it is standard input.
expect 2 diff - -
has 'both A and B are -' err

# What a beginner does wrong.
expect 2 diff "$work/a.jsonl"
expect 4 diff "$work/a.jsonl" "$work/nothing-there"
printf '{"catalog":{"machine":"x86-64"}}\n{"kind":"frame","tracepoint":1}\n' >"$work/frames.jsonl"
expect 3 diff "$work/frames.jsonl" "$work/a.jsonl"
has 'not a trace of executed instructions' err
cat >"$work/narrow.jsonl" <<'EOF'
{"catalog":{"machine":"i386","address_bytes":4}}
{"kind":"step","pc":"0x1","opcode":"90"}
EOF
expect 2 diff "$work/a.jsonl" "$work/narrow.jsonl"
has 'a trace of x86-64 cannot be compared with one of i386' err
finish
