#!/usr/bin/env bash
# labels: answers
# The index beside a trace: made, used, extended, made anew, done without.
. "$(dirname "$0")/common.sh"
sample=$TRACEWELL_SOURCE/tests/formats/data/synthetic_threads_fixed.trace64
trace=$work/run.trace64
index=$trace.tidx
all=0,0xffffffffffffffff
chmod 755 "$work"

# A few questions whose answers need all parts of the index; the output is kept in $work/$1.
ask() {
  local file=${2:-$trace}
  : >"$work/$1"
  for what in "exec 0x140000000,0x100000 --limit 5" "exec $all --backward --limit 5" \
              "write $all --limit 20" "read $all --backward --limit 20" \
              'reg rax --backward --limit 5' 'bytes 0102 --limit 20'; do
    "$tracewell" find "$file" $what >>"$work/$1" 2>"$work/told"
    [ $? -le 1 ] || fail "find $what"
    grep -v 'nothing found' "$work/told" >>"$work/err"
  done
  local step
  for step in 0 700 2999; do
    "$tracewell" at "$file" "$step" --regs --mem 0x14f000,4096 >>"$work/$1" 2>>"$work/err" ||
      fail "at $step"
  done
}
# same NAME: the answers are those of a fresh index of the same bytes.
same() {
  rm -rf "$work/fresh" && mkdir "$work/fresh"
  cp "$trace" "$work/fresh/run.trace64"
  ask wanted "$work/fresh/run.trace64"
  : >"$work/err"
  ask "$1"
  cmp "$work/wanted" "$work/$1" || fail "$1: other answers"
}
quiet() { [ ! -s "$work/err" ] || fail "$1: $(head -3 "$work/err")"; }
of() { stat -c '%i %Y %s' "$index"; }

# The first question makes it, the others use it.
cp "$sample" "$trace"
expect 0 at "$trace" 5
[ -s "$index" ] || fail 'there is no index'
made=$(of)
same used
quiet used
[ "$(of)" = "$made" ] || fail 'it was made again'
[ "$(wc -l <"$work/used")" -gt 100 ] || fail 'there is little to compare'

# The trace has grown, in the middle of a block too.
head -c 150001 "$sample" >"$trace"
rm "$index"
ask cut
cat <(tail -c +150002 "$sample") >>"$trace"
same grown
quiet grown

# The trace is another one, of the same size.
cp "$sample" "$trace"
ask before
printf '\001' | dd of="$trace" bs=1 seek=120000 conv=notrunc status=none
same changed
cp "$sample" "$trace"
same back
touch -d '2001-01-01' "$trace"
same touched
quiet touched

# Deleted at will; of another file; no index at all.
rm "$index"
same deleted
quiet deleted
printf 'notes of somebody else' >"$index"
same foreign
quiet foreign

# Damaged: wherever it is, the answers are right, and it is told once they would not be.
cp "$index" "$work/sound"
size=$(stat -c %s "$index")
noticed=0
places="9 40 200 $((size / 7)) $((size / 5)) $((size / 3)) $((size / 2)) $((size * 2 / 3))"
[ -z "$sanitized" ] || places="40 $((size / 5)) $((size / 3)) $((size / 2))"
for at in $places $((size - 30)); do
  cp "$work/sound" "$index"
  byte=$(od -An -tu1 -j "$at" -N 1 "$index")
  printf "\\x$(printf %x $((byte ^ 16)))" | dd of="$index" bs=1 seek="$at" conv=notrunc status=none
  same "damaged-$at"
  if grep -q 'is damaged; making it anew' "$work/err"; then
    noticed=$((noticed + 1))
    ask again
    cmp "$work/again" "$work/wanted" || fail 'what was made anew answers otherwise'
  fi
done
[ "$noticed" -ge 2 ] || fail "damage was noticed $noticed times"
head -c $((size / 2)) "$work/sound" >"$index"
same truncated

# Values are looked for piece by piece on all cores; the hits are those of the steps in their order,
# whatever step the search begins with.
python3 - "$work/long.jsonl" <<'PYTHON'
import sys
with open(sys.argv[1], "w") as out:
    out.write('{"catalog":{"machine":"x86-64"}}\n')
    for i in range(120000):
        change = '"registers":{"rax":"%#x"}' % (i % 5000)
        before = ',"before":{"rbx":"0x7b"}' if i == 3 else ""
        out.write('{"kind":"step","seq":%d,"tid":%d,"pc":"0x1000","opcode":"90",%s%s}\n'
                  % (i, 1 + i // 1000 % 2, change, before))
PYTHON
expect 0 find "$work/long.jsonl" value 123
[ "$(sed -n 's/^step \([0-9]*\) .*/\1/p' "$work/out" | tr '\n' ' ')" = \
  "3 $(seq 123 5000 119999 | tr '\n' ' ')" ] || fail "find value: $(head -30 "$work/out")"
expect 0 find "$work/long.jsonl" value 123 --from 40000 --to 110122 --limit 13
[ "$(sed -n 's/^step \([0-9]*\) .*/\1/p' "$work/out" | tr '\n' ' ')" = \
  "$(seq 40123 5000 100123 | tr '\n' ' ')" ] || fail "find value --from: $(head -30 "$work/out")"

# Where it cannot be written it is done without, with a word.
rm "$index"
chmod 555 "$work"
as_user=()
[ "$(id -u)" != 0 ] || as_user=(setpriv --reuid=65534 --clear-groups)
"${as_user[@]}" "$tracewell" find "$trace" exec $all --limit 3 >"$work.out" 2>"$work.err"
status=$?
chmod 755 "$work"
mv "$work.out" "$work/out"
mv "$work.err" "$work/err"
[ "$status" = 0 ] || fail "read-only folder: $status"
has 'the index is not kept' err
lines 3
[ ! -e "$index" ] || fail 'somebody wrote an index'
finish
