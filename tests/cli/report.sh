#!/usr/bin/env bash
# tracewell report: events by templates.
. "$(dirname "$0")/common.sh"
# Nothing of the caller's is read, and root's usual log may be another test's for a moment.
export XDG_STATE_HOME=$work/state XDG_RUNTIME_DIR=$work/run TRACEWELL_LOG=$work/state/trcfile
export TRACEWELL_DEFAULTS=$work/state/trace.conf TRACEWELL_TEMPLATES=$work/state/trcfmt
export TRACEWELL_EVENT_GROUPS=$work/state/evgrp
hooks=$TRACEWELL_SOURCE/tests/cli/hooks.jsonl
cat >"$work/mine" <<'END'
010 1.0 L=APPL "MyCustomHook" \
$GENERIC, \
0 { $HD%D1, \
   0 { "Activity="G8 A10 \
       "Address=0x"$D2 {{ $total_size = $D3 * $D4 }} \
       "Size="$total_size%D4 }, \
   1 { "Address=0x"$D1 "Array Index="$D2%D4 "Value="$D3%D4 }, \
   \* {"Undefined Hook with subhook id = "$HD%D1 } }, \
1 { "String Length=" $D1%D4 {{ $loopcnt = $HL }} G16 LOOP $loopcnt {A0} }
END

expect 0 report "$hooks" -t "$work/mine"
has '010        0.003872577        3.872577  MyCustomHook Activity=malloc '
has 'MyCustomHook Activity=malloc Address=0x110000970 Size=40'
has '010        0.003874101        0.001524  MyCustomHook String Length=17 successful malloc'
has '010        0.003874956        0.000855  MyCustomHook Address=0x110000984 '
has 'MyCustomHook Address=0x110000984 Array Index=5 Value=20'
has 'TRACE ON channel 0'
has 'UNDEFINED TRACE ID'
has 'ELAPSED_SEC'
expect 0 report "$hooks" -t "$work/mine" -h -d 010 -T '!2' -O timestamp=3,cpuid=on
lines 2
has '010     1  MyCustomHook String Length=17 successful malloc'
expect 0 report "$hooks" -h -k 0100,022
lines 1
expect 1 report "$hooks" -h -d 7ff
expect 0 report "$hooks" -t "$work/mine" -h -C 0 -O starttime=0.001,endtime=1
lines 1
expect 0 report "$hooks" -t "$work/mine" -o "$work/text"
has 'Size=40' text

# Template files alone.
expect 0 report -j -t "$work/mine"
has '010 MyCustomHook'
has '001 TRACE ON'
expect 0 report -c -t "$work/mine"
lines 0
printf '011 1.0 "a" U1, 1 "b" 2 "c"\n012 1.0 "b" {{ a = 5 }}\n013 1.0 "c" \\n "d"\n' >"$work/odd"
expect 1 report -c -t "$work/odd"
has "$work/odd:1:23: warning:"
has "$work/odd:2:16: error: expected the \$name that the assignment needs, found \"a\" [syntax]"
expect 0 report "$hooks" -t "$work/mine" -t "$work/odd"
has ':2:16: error' err
if grep -q 'case-without-comma' "$work/err"; then fail 'a report warns'; fi
has 'Size=40'

# Frames and steps.
echo '0002 1.0 L=APPL "at work" $D1' >"$work/frames"
expect 0 report "$cases/tfile/gdb-tsave/input.tf" -t "$work/frames" -d 0002 -O timestamp=3
has '0002  at work '
echo '00B 1.0 L=APPL "" "0x"$D1 G48 {{ $size = $HD%U1 }} LOOP $size {X0}' >"$work/steps"
# Some of its lines are damaged: what is whole is there, and the exit status says so.
expect 3 report "$cases/jsonl/steps/input.jsonl" -t "$work/steps" -h -O timestamp=3
has '00B   0x0010 50'
has 'is damaged at offset 0x224: line 4'

# What cannot be.
expect 2 report "$hooks" -d 12345
has 'hook ids of 2 to 4 hex digits' err
expect 2 report "$hooks" -O ids=maybe
expect 2 report "$hooks" -O starttime=now
expect 2 report "$hooks" -T x
expect 2 report
has "which trace? FILE is missing, and there is no $work/state/trcfile" err
expect 2 report -c
expect 4 report "$hooks" -t "$work/nowhere"
head -c 30000 "$cases/tfile/gdb-tsave/input.tf" >"$work/cut.tf"
expect 3 report "$work/cut.tf" -t "$work/mine"
has 'frame-cut' err
tail -n 1 "$work/out" >"$work/last"
has 'cut.tf is damaged at offset 0x6fc4: a frame' last

# Of several files all that are there are reported; those that are not are named.
cp "$hooks" "$work/first.jsonl"
cp "$hooks" "$work/second.jsonl"
echo 'no trace' >"$work/text"
count=$("$tracewell" report "$work/first.jsonl" -h -t "$work/mine" | wc -l)
for missing in nosuch text; do
  expect 1 report "$work/first.jsonl" "$work/$missing" "$work/second.jsonl" -t "$work/mine" \
    -o "$work/both"
  has "$work/$missing" err
  [ "$(grep -c "^Log: $work/" "$work/both")" = 2 ] || fail "$missing: $(grep ^Log "$work/both")"
  expect 1 report "$work/$missing" "$work/first.jsonl" "$work/second.jsonl" -h -t "$work/mine"
  [ "$(grep -c '^[0-9A-F]* ' "$work/out")" = $((2 * $(grep -c '^[0-9A-F]* ' <("$tracewell" report \
    "$work/first.jsonl" -h -t "$work/mine")))) ] || fail "$missing: not all of both files"
  expect 1 report -m "$work/first.jsonl" "$work/$missing" -h -t "$work/mine"
  lines "$count"
done
expect 4 report "$work/nosuch" "$work/neither" -o "$work/none"
has 'nosuch' err
has 'neither' err
[ -e "$work/none" ] && fail "a report of nothing was written"
expect 3 report "$work/cut.tf" "$work/nosuch" -t "$work/mine" -o "$work/both"
finish
