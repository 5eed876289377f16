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
  head -c 5000 /dev/zero; } >"$work/broken.trace64"
expect 1 repair "$work/broken.trace64" "$work/saved.trace64"
has 'damage broken-block'
has 'zero-tail'
expect 0 check "$work/saved.trace64"

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
