#!/usr/bin/env bash
# labels: answers
# print --where of places: with the index beside the trace and without one, whatever state it is in,
# the output, what is told and the status are the same, and nobody makes or changes an index.
. "$(dirname "$0")/common.sh"
trace=$work/run.trace64
index=$trace.tidx
chmod 755 "$work"

# Two traces of one size, with the same begin and end: a place that is seldom executed in a loop,
# and a step in the middle that is somewhere else.
python3 - "$work" <<'PYTHON'
import sys
RAX, RCX, RBX, RIP = 0, 1, 3, 16
head = b'{"ver":1,"arch":"x64","hashAlgorithm":"murmurhash","hash":"0x1F","compression":"",'
head += b'"path":""}'
for name, middle in (("run", 0x9000), ("other", 0x9001)):
    out = bytearray(b"TRAC" + len(head).to_bytes(4, "little") + head)
    last = None
    words = [0] * 172
    for i in range(24000):
        words[RIP] = 0x10000 + i % 200
        if i % 6000 == 100: words[RIP] = 0x20064
        if i == 12000: words[RIP] = middle
        if i % 5 == 0: words[RAX] = i // 7000
        if i % 3000 == 2999: words[RBX] = i
        if i == 100: words[RCX] = 0x77
        told = [n for n in range(172) if last is None or words[n] != last[n]]
        flags = 0x81 if last is None else 1
        out += bytes([0, len(told), 0, flags])
        if last is None: out += (7).to_bytes(4, "little")
        out += b"\x90"
        before = -1
        for n in told:
            out.append(n - before - 1)
            before = n
        for n in told: out += words[n].to_bytes(8, "little")
        last = list(words)
    open(f"{sys.argv[1]}/{name}.trace64", "wb").write(out)
PYTHON
touch -d '2020-02-02' "$trace" "$work/other.trace64"
[ "$(stat -c %s "$trace")" = "$(stat -c %s "$work/other.trace64")" ] || fail 'other sizes'

# ask NAME: all that is said is kept in $work/NAME.
ask() {
  local where more
  : >"$work/out"
  : >"$work/err"
  for where in 'pc == 0x20064 && $rbx != 0' 'pc in 0x20064..0x20065 || pc == 0x9000' \
               'pc == 20064'; do
    for more in '' '--limit 2' '--columns step,before,registers' '--format csv' '--format jsonl' \
                '--from 100 --to 18000 --strict'; do
      "$tracewell" print "$trace" --where "$where" $more >>"$work/out" 2>>"$work/err"
      echo "$where $more: $?" >>"$work/out"
    done
  done
  cat "$work/out" "$work/err" >"$work/$1"
  rm "$work/out" "$work/err"
}
same() { cmp "$work/$1" "$work/$2" || fail "$2: not the same as $1"; }
of() { stat -c '%i %Y %s' "$index"; }

ask without
[ ! -e "$index" ] || fail 'print made an index'
[ "$(grep -c '^step ' "$work/without")" -gt 20 ] || fail 'there is little to compare'
expect 0 hits "$trace"
made=$(of)
ask with
same without with

# It is asked: that of another trace, which says to be of this one, knows of no such place.
expect 0 print "$trace" --where 'pc == 0x9000' --columns step
[ "$(tail -1 "$work/out")" = 12000 ] || fail 'step 12000 is not found'
expect 0 hits "$work/other.trace64"
mv "$index" "$work/kept.tidx"
cp -p "$work/other.trace64.tidx" "$index"
expect 1 print "$trace" --where 'pc == 0x9000'
# What it invents is not believed.
expect 1 print "$trace" --where 'pc == 0x9001'
# Nor is it asked what it cannot know.
expect 0 print "$trace" --where 'pc == 0x9000 || tid == 8'

# One that others may have written, that is damaged, or older than the trace.
chmod 666 "$index"
"$tracewell" print "$trace" --where 'pc == 0x9000' >"$work/out" 2>"$work/err" || fail 'not found'
cp -p "$work/kept.tidx" "$index"
for at in 10 1000 $(($(stat -c %s "$index") - 20)); do
  cp -p "$work/kept.tidx" "$index"
  printf '\252\125\252' | dd of="$index" bs=1 seek="$at" conv=notrunc status=none
  made=$(of)
  ask damaged
  same without damaged
  [ "$(of)" = "$made" ] || fail 'print changed a damaged index'
done
cp -p "$work/kept.tidx" "$index"
made=$(of)
touch -d '2020-02-03' "$trace"
ask older
same without older
[ "$(of)" = "$made" ] || fail 'print changed an old index'

# A trace with damage, and one with flags that nobody knows, in parts that no answer is from.
for flags in ff 51; do
  python3 - "$work" $flags <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1] + "/other.trace64", "rb").read())
at = data.index(b"\x00\x01\x00\x01\x90", len(data) // 3)  # a step that lists one register
data[at + 3] = int(sys.argv[2], 16)
open(sys.argv[1] + "/run.trace64", "wb").write(data)
PYTHON
  rm -f "$index"
  ask bare
  grep -q 'damage\|reserved-flags' "$work/bare" || fail "$flags: nothing is told"
  expect 0 hits "$trace"
  ask indexed
  same bare indexed
done
finish
