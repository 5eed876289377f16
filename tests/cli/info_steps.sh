#!/usr/bin/env bash
# timeout: 300
# labels: answers
# tracewell info of traces of steps: the same whether their index is at hand or not.
. "$(dirname "$0")/common.sh"
samples=$TRACEWELL_SOURCE/tests/formats/data

# The answers of the commands that only open FILE, or read a bit of it.
answers() {
  "$tracewell" info "$1"
  "$tracewell" info --json "$1"
  "$tracewell" print --from 600 --to 605 "$1"
  "$tracewell" check "$1"
}

# same FILE: without an index, with one, with one whose bytes are damaged, and with one of FILE when
# it was shorter.
same() {
  local file=$1 size
  rm -f "$file.tidx"
  answers "$file" >"$work/plain" 2>&1
  "$tracewell" at "$file" 0 >/dev/null 2>&1
  [ -s "$file.tidx" ] || fail "no index of $file"
  cp "$file.tidx" "$work/sound"
  answers "$file" >"$work/with" 2>&1
  cmp "$work/plain" "$work/with" || fail "$file with its index"
  size=$(stat -c %s "$file.tidx")
  for at in 20 $((size / 2)) $((size - 30)) $((size - 400)); do
    cp "$work/sound" "$file.tidx"
    printf '\377' | dd of="$file.tidx" bs=1 seek="$at" conv=notrunc status=none
    answers "$file" >"$work/with" 2>&1
    cmp "$work/plain" "$work/with" || fail "$file with a byte of its index changed at $at"
  done
  cp "$file" "$work/whole"
  size=$(stat -c %s "$file")
  truncate -s $((size * 2 / 3)) "$file"
  rm -f "$file.tidx"
  "$tracewell" at "$file" 0 >/dev/null 2>&1
  cat "$work/whole" >"$file"
  answers "$file" >"$work/with" 2>&1
  cmp "$work/plain" "$work/with" || fail "$file after it has grown"
  # Another file of that size, whose head and tail are the same.
  dd if=/dev/zero of="$file" bs=1 seek=$((size / 2)) count=100 conv=notrunc status=none
  touch -d '2001-01-01' "$file"
  answers "$file" >"$work/with" 2>&1
  rm -f "$file.tidx"
  answers "$file" >"$work/plain" 2>&1
  cmp "$work/plain" "$work/with" || fail "$file when it is another one"
}

names='synthetic_single synthetic_threads_fixed synthetic_threads_tidbug' cuts='1 700 5001'
[ -z "$sanitized" ] || { names=synthetic_threads_tidbug cuts=5001; }
for name in $names; do
  from=$samples/$name.trace64
  size=$(stat -c %s "$from")
  cp "$from" "$work/trace.trace64"
  same "$work/trace.trace64"
  for cut in $cuts; do
    head -c $((size - cut)) "$from" >"$work/trace.trace64"
    same "$work/trace.trace64"
  done
  places="5000 $((size / 3)) $((size / 2)) $((size - 3000))"
  [ -z "$sanitized" ] || places=$((size / 2))
  for at in $places; do
    cp "$from" "$work/trace.trace64"
    printf 'ABCDEFGH' | dd of="$work/trace.trace64" bs=1 seek="$at" conv=notrunc status=none
    same "$work/trace.trace64"
  done
  { cat "$from"; tail -c +120 "$from"; head -c 3000 /dev/zero; } >"$work/trace.trace64"
  same "$work/trace.trace64"
done

# Who wrote it: a file of ours says so by what stands in it; x64dbg's, written again as it is, is
# still x64dbg's.
recorder() {  # TEXT FILE
  expect 0 info "$2"
  grep -q "^recorder   $1" "$work/out" || fail "$2 is not by $1: $(grep recorder "$work/out")"
}
python3 "$TRACEWELL_SOURCE/examples/travel/squares.py" >"$work/squares.jsonl"
expect 0 convert "$work/squares.jsonl" "$work/squares.trace64"
recorder Tracewell$ "$work/squares.trace64"
recorder 'x64dbg, ' "$samples/synthetic_single.trace64"
recorder 'x64dbg, August 2026 or later (or before, and repaired since then)$' \
  "$samples/synthetic_threads_fixed.trace64"
expect 0 convert "$samples/synthetic_single.trace64" "$work/copy.trace64"
recorder 'x64dbg, [^;]*$' "$work/copy.trace64"
expect 0 convert "$samples/synthetic_single.trace64" "$work/part.trace64" --where 'step in 9..99'
recorder Tracewell$ "$work/part.trace64"
expect 0 note "$work/copy.trace64" 700 here
expect 0 convert "$work/copy.trace64" "$work/noted.trace64"
recorder 'x64dbg, .*; written again by Tracewell$' "$work/noted.trace64"
finish
