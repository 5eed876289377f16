#!/usr/bin/env bash
# A trace that changed unseen beside its index, and an index that is no file.
. "$(dirname "$0")/common.sh"
sample=$TRACEWELL_SOURCE/tests/formats/data/synthetic_threads_fixed.trace64
trace=$work/run.trace64
index=$trace.tidx
all=0,0xffffffffffffffff

# The middle rots, size and time stay. Who looks at all of the file does so anew; who goes on by the
# index says where it is not that file.
cp "$sample" "$trace"
rm -f "$index"
expect 0 hits "$trace" --limit 1
touch -r "$trace" "$work/time"
head -c 600 /dev/zero | tr "\0" "\1" | dd of="$trace" bs=1 seek=60000 conv=notrunc status=none
touch -r "$work/time" "$trace"
cp "$trace" "$work/unknown.trace64"
expect 1 check "$trace"
has 'broken-block'
expect 0 convert "$work/unknown.trace64" "$work/wanted.jsonl"
expect 0 convert "$trace" "$work/got.jsonl"
diff <(sed 1d "$work/wanted.jsonl") <(sed 1d "$work/got.jsonl") >/dev/null ||
  fail "convert by the index"
expect 1 repair "$work/unknown.trace64" "$work/wanted.trace64"
expect 1 repair "$trace" "$work/got.trace64"
cmp "$work/wanted.trace64" "$work/got.trace64" || fail "repair by the index"
expect 3 print "$trace"
has 'is not where it was when this file was looked through before' err
touch "$trace"
expect 0 print "$trace"

# An index that is damaged, too, cannot be made anew where the trace cannot be read as it was:
# nobody is told an answer.
cp "$sample" "$trace"
rm -f "$index"
expect 0 hits "$trace" --limit 1
touch -r "$trace" "$work/time"
head -c 600 /dev/zero | tr '\0' '\377' | dd of="$trace" bs=1 seek=60000 conv=notrunc status=none
touch -r "$work/time" "$trace"
mv "$index" "$work/whole"
for question in "calls $trace" "hits $trace" "at $trace 2000 --mem 0x14f000,64"; do
  python3 - "$work/whole" "$index" <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
for at in range(110, len(data) * 3 // 4, 97):
    data[at] ^= 1
open(sys.argv[2], "wb").write(data)
PYTHON
  cp "$index" "$work/damaged"
  expect 3 $question
  has 'do not rely on these answers' err
done
# A debugger has come somewhere by the index, and gets no registers there.
cp "$work/damaged" "$index"
python3 - "$tracewell" "$trace" >"$work/out" 2>"$work/err" <<'PYTHON'
import subprocess, sys
server = subprocess.Popen([sys.argv[1], "replay", sys.argv[2], "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE)
for text in ("QStartNoAckMode", "Z0,401000,1", "c", "g"):
    server.stdin.write(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 255))
    server.stdin.flush()
    answer = b""
    while answer[-3:-2] != b"#" and (byte := server.stdout.read(1)):
        answer += byte
    print(text, answer.decode(errors="replace"))
server.stdin.close()
server.wait()
PYTHON
has 'g $E01#a6'

# A pipe in the index's place, or a link to a device, is neither waited for nor written to.
rm -f "$index"
mkfifo "$index"
timeout 20 "$tracewell" find "$trace" exec "$all" --limit 1 >"$work/out" 2>"$work/err" ||
  fail "a pipe: $(cat "$work/err")"
lines 1
rm "$index"
ln -s /dev/null "$index"
expect 0 find "$trace" exec "$all" --limit 1
lines 1
[ -L "$index" ] || fail "a link was replaced"

finish
