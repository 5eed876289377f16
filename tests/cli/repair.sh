#!/usr/bin/env bash
# tracewell repair
. "$(dirname "$0")/common.sh"
data=$TRACEWELL_SOURCE/tests/formats/data

# Sound: the same bytes.
expect 0 repair "$data/synthetic_single.trace64" "$work/same.trace64"
has 'sound'
cmp "$work/same.trace64" "$data/synthetic_single.trace64" || fail 'a sound file was changed'

# Thread ids that flags deny.
expect 1 repair "$data/synthetic_threads_tidbug.trace64" "$work/fixed.trace64"
has 'warning hidden-thread-id at 0x898: step 10'
has '36 problems'
expect 0 check "$work/fixed.trace64"
has 'sound, 4999 events'

# A cut file, a hole in it, zeros behind it.
{ head -c 100000 "$data/synthetic_single.trace64"
  head -c 3000 /dev/zero | tr '\0' '\377'
  tail -c +103001 "$data/synthetic_single.trace64" | head -c 100000
  head -c 8192 /dev/zero; } >"$work/broken.trace64"
expect 1 repair "$work/broken.trace64" "$work/saved.trace64"
has 'damage broken-block'
has 'zero-tail'
expect 0 check "$work/saved.trace64"

# Repairing again changes nothing.
for one in fixed saved; do
  expect 0 repair "$work/$one.trace64" "$work/again.trace64"
  cmp "$work/again.trace64" "$work/$one.trace64" || fail "$one: repairing again changes something"
done

# From a pipe and into one; what is told goes elsewhere.
"$tracewell" repair - - <"$work/broken.trace64" >"$work/piped.trace64" 2>"$work/err"
[ $? = 1 ] || fail 'from and into a pipe'
has 'damage broken-block' err
cmp "$work/piped.trace64" "$work/saved.trace64" || fail 'a pipe gets another file'

# So it does where a name means standard output.
for name in /dev/stdout /proc/self/fd/1 "$work/named.trace64"; do
  "$tracewell" repair "$work/broken.trace64" "$name" >"$work/named.trace64" 2>"$work/err"
  [ $? = 1 ] || fail "to $name"
  has 'damage broken-block' err
  has 'has what could be saved' err
  cmp "$work/named.trace64" "$work/saved.trace64" || fail "$name gets another file"
done
"$tracewell" repair "$work/broken.trace64" /dev/stdout 2>/dev/null | cmp - "$work/saved.trace64" ||
  fail 'a pipe that is named gets another file'

# Whole or not at all, and never over what it was made from.
cp "$work/broken.trace64" "$work/kept.trace64"
ln -s broken.trace64 "$work/link.trace64"
ln "$work/broken.trace64" "$work/name.trace64"
for same in broken link name; do
  expect 2 repair "$work/broken.trace64" "$work/$same.trace64"
  has 'are the same file' err
done
cmp "$work/broken.trace64" "$work/kept.trace64" || fail 'the input was changed'
cp "$work/same.trace64" "$work/there.trace64"
expect 1 repair "$work/broken.trace64" "$work/there.trace64"
cmp "$work/there.trace64" "$work/saved.trace64" || fail 'a file that was there'
expect 4 repair "$work/broken.trace64" "$work/no/folder.trace64"
expect 3 repair --strict "$work/broken.trace64" "$work/strict.trace64"
[ ! -e "$work/strict.trace64" ] || fail '--strict wrote something'
[ "$(find "$work" -name '*.tmp*' | wc -l)" = 0 ] || fail 'something is left behind'

# What is read only is refused, and the help says so in these words.
expect 0 repair --help
has 'in the format of FILE'
tr -s ' \n' ' ' <"$work/out" >"$work/words"
has 'Logs of trace hooks and the files of trace buffers (.twb) are read only' words
expect 3 repair "$cases/tracebuffer/two-frames/input.twb" "$work/no.twb"
expect 3 repair "$(ls -d "$cases"/hooklog/*/input.hooks | head -1)" "$work/no.hooks"
[ ! -e "$work/no.twb" ] && [ ! -e "$work/no.hooks" ] || fail 'something was written'

# GDB's trace files as well.
expect 0 repair "$cases/tfile/gdb-tsave/input.tf" "$work/same.tf"
cmp "$work/same.tf" "$cases/tfile/gdb-tsave/input.tf" || fail 'a sound trace file was changed'

echo nonsense >"$work/nonsense"
expect 3 repair "$work/nonsense" "$work/none"
[ ! -e "$work/none" ] || fail 'something was written'
printf 'CART' >"$work/cart.trace64"
expect 3 repair "$work/cart.trace64" "$work/none"
expect 2 repair "$data/synthetic_single.trace64"
finish
