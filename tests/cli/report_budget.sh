#!/usr/bin/env bash
# labels: answers
# tracewell report: templates that make much of little. An event has a budget, its line says when
# that was spent, and the signal to quit ends the report in the middle of a thousand such events.
. "$(dirname "$0")/common.sh"

{
  echo '{"catalog":{"endian":"little","machine":"x86-64"}}'
  for i in {1..1000}; do
    printf '{"kind":"hook","id":"0100","words":[],"tid":1,"cpu":0,"time_ns":%d}\n' $((10 ** 9 + i))
  done
} >"$work/hooks.jsonl"
head -3 "$work/hooks.jsonl" >"$work/two.jsonl"
{
  printf '010 1.0 L=APPL "x" {{ $n = 16000 }} LOOP $n { '
  printf 'G0 %.0s' {1..30000}
  echo '}'
} >"$work/slow.fmt"
expect 0 report -t "$work/slow.fmt" "$work/two.jsonl"
[ "$(grep -c 'x \*\*\* too many instructions for 8 bytes$' "$work/out")" = 2 ] ||
  fail "two events: $(head -c 500 "$work/out")"

# Before the guard against signals is there, they end any program.
python3 - "$tracewell" report -t "$work/slow.fmt" -o "$work/slow.txt" "$work/hooks.jsonl" \
  >"$work/out" 2>&1 <<'PYTHON' || fail "SIGTERM while a report is at work: $(cat "$work/out")"
import signal, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
def is_guarded():
    with open(f'/proc/{child.pid}/status') as status:
        caught = next(line for line in status if line.startswith('SigCgt:'))
    return int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1
while child.poll() is None and not is_guarded():
    pass
if child.poll() is not None:
    sys.exit('it was done before')
child.send_signal(signal.SIGTERM)
try:
    status = child.wait(timeout=30)
except subprocess.TimeoutExpired:
    child.kill()
    sys.exit('it does not end')
sys.exit(0 if status == -signal.SIGTERM else f'it ends with {status}')
PYTHON

# Fields by the hundred thousand, as rows: each was looked for among all before it.
{
  printf '010 1.0 L=APPL "" {{ $n = 16000 }} LOOP $n { '
  for _ in {1..8}; do printf '"a=" $n "," '; done
  echo '}'
} >"$work/fields.fmt"
within 10 "$tracewell" report --format jsonl -t "$work/fields.fmt" "$work/two.jsonl" \
  >"$work/out" 2>"$work/err" || fail "rows of many fields: $? $(cat "$work/err")"
lines 2
grep -q '"fields":{"a":"3E80","a_2":"3E80",.*"a_128000":"3E80 ,"}' "$work/out" ||
  fail "rows of many fields: $(head -c 500 "$work/out")"

# Each of many events within its bound: together they have another one, which can be raised.
printf '010 1.0 L=APPL "x" {{ $n = 16000 }} LOOP $n { %s}\n' "$(printf 'G0 %.0s' {1..60})" \
  >"$work/loops.fmt"
within 30 "$tracewell" report -t "$work/loops.fmt" --template-work 20 "$work/hooks.jsonl" \
  >"$work/out" 2>"$work/err" || fail "many events: $? $(cat "$work/err")"
[ "$(grep -c ' x$' "$work/out")" -lt 50 ] || fail 'more than 20 million instructions'
over='x \*\*\* the instruction limit for all events together is used up (--template-work)'
[ "$(grep -c "$over$" "$work/out")" -gt 900 ] ||
  fail "many events: $(tail -c 500 "$work/out")"
head -40 "$work/hooks.jsonl" >"$work/some.jsonl"
expect 0 report -t "$work/loops.fmt" "$work/some.jsonl"
grep -q 'too many' "$work/out" && fail 'what is there without an option is not enough for 40 events'
expect 2 report -t "$work/loops.fmt" --template-work x "$work/some.jsonl"
finish
