#!/usr/bin/env bash
# labels: answers
# --where with --image: a program of kilobytes has names that would be megabytes at each step. To
# search all of them for a large pattern ends, and says that it has; for a small one nothing is cut.
. "$(dirname "$0")/common.sh"

# For a pattern that counts what follows each a, hundreds of places are open at once.
long=$(awk 'BEGIN { srand(1); for (i = 0; i < 16000; ++i) printf "%s", rand() < 0.5 ? "a" : "b" }')
printf '.text\n%s: .zero 1000, 0x90\n%s_end: nop\n' "$long" "$long" >"$work/names.s"
as "$work/names.s" -o "$work/names.o"
ld -Ttext 0x401000 -e 0x401000 "$work/names.o" -o "$work/names"
{
  echo '{"catalog":{"endian":"little","machine":"x86-64"}}'
  for i in {0..999}; do printf '{"kind":"step","tid":1,"pc":"0x%x"}\n' $((0x401000 + i)); done
} >"$work/steps.jsonl"

expect 0 print --image "$work/names" --where 'symbol =~ "[+]9$"' "$work/steps.jsonl"
lines 1
[ -s "$work/err" ] && fail "a small pattern: $(head -c 500 "$work/err")"
expect 0 print --image "$work/names" --where 'symbol =~ "a[ab]{900}c|[+][0-9]+$"' \
  "$work/steps.jsonl"
told='searches have used up the time that they have for so short a trace'
[ "$(grep -c "$told" "$work/err")" = 1 ] ||
  fail "it is not said that names were searched in part: $(head -c 500 "$work/err")"
found=$(wc -l <"$work/out")
[ "$found" -gt 0 ] && [ "$found" -lt 1000 ] || fail "$found steps: there is no such budget"
# Answers are remembered by address: a loop takes no more names, and loses no step.
{
  cat "$work/steps.jsonl"
  for i in {1..100}; do tail -n 999 "$work/steps.jsonl"; done
} >"$work/long.jsonl"
expect 0 print --image "$work/names" --where 'symbol =~ "[+]9$"' "$work/long.jsonl"
lines 101
finish
