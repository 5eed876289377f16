#!/usr/bin/env bash
# --where: a search for a large pattern in a long text of a trace ends soon, and says once that it
# did not look at all of it.
. "$(dirname "$0")/common.sh"

text=$(printf 'ab%.0s' {1..100000})
{
  echo '{"catalog":{"endian":"little","machine":"x86-64"}}'
  for end in c d e; do printf '{"kind":"mark","text":"%s%s"}\n' "$text" "$end"; done
} >"$work/texts.jsonl"
expect 1 print --where 'text =~ "a[ab]{990}[c-e]"' "$work/texts.jsonl"
told='a text has 200001 bytes, and a pattern as large as this one is looked for in the first'
[ "$(grep -c "$told" "$work/err")" = 1 ] ||
  fail "print does not say that it searched a part: $(cat "$work/err")"
expect 0 print --where 'text =~ "[ab]{99}[de]$"' "$work/texts.jsonl"
lines 2
[ -s "$work/err" ] && fail "a small pattern: $(cat "$work/err")"
finish
