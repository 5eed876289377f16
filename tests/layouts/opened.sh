#!/usr/bin/env bash
# Files of each version of each layout, as programs of their time wrote them, are read; those of a
# version to come are refused with a sentence, or made anew where they are a cache.
. "$(dirname "$0")/../cli/common.sh"
. "$(dirname "$0")/../cli/hooks_common.sh"
here=$TRACEWELL_SOURCE/tests/layouts
export TRACEWELL_COMPONENT_LOGS=$work/ct
chmod 755 "$work"
umask 077

patch() {  # FILE OFFSET BYTES: \xNN each
  printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
unpack() {  # ARCHIVE FOLDER
  mkdir -p "$2"
  tar -xzf "$here/$1" -C "$2" --no-same-owner || fail "$1 cannot be unpacked"
}
count() {  # TEXT NUMBER
  local got
  got=$(grep -c -- "$1" "$work/out")
  [ "$got" = "$2" ] || fail "$got times \"$1\", not $2"
}

# Trace buffers: eight hits, whose counts are 0 to 7.
for version in 1 2; do
  zcat "$here/tracebuffer-$version.twb.gz" >"$work/old.twb"
  expect 0 print --format jsonl "$work/old.twb"
  count '"kind":"frame"' 8
  for i in 0 1 2 3 4 5 6 7; do has "\"bytes\":\"0${i}000000\""; done
done
patch "$work/old.twb" 8 '\x03'
expect 3 print "$work/old.twb"
has 'a trace buffer of version 3, and this release reads 1 and 2' err

# What a trace file has behind its end.
cp "$here/trailer-1.tf" "$work/frames.tf"
expect 0 check "$work/frames.tf"
expect 0 print --format jsonl "$work/frames.tf"
count '"kind":"frame"' 8
count '"time_ns":1' 8
patch "$work/frames.tf" $(($(stat -c %s "$work/frames.tf") - 32)) '\x02'
expect 1 check "$work/frames.tf"
has 'trailer: it is of version 2, and this release reads 1; it is not used'
expect 0 print --format jsonl "$work/frames.tf"
count '"kind":"frame"' 8
count '"time_ns":null' 8
patch "$work/frames.tf" $(($(stat -c %s "$work/frames.tf") - 1)) 2
expect 0 check "$work/frames.tf"
has 'note after-end'

# Traces with user blocks of ours, an index and notes beside them. An index of this version is used
# as it is; another one is made anew, and nothing is said.
index_of() { stat -c '%i %s' "$work/run.trace64.tidx"; }
beside() {  # VERSION
  rm -f "$work"/run.trace64*
  local one
  for one in trace64 trace64.tidx trace64.notes; do
    cp "$here/index-$1.$one" "$work/run.$one"
  done
  touch -d '2026-11-30 12:00:00 UTC' "$work/run.trace64"
  made=$(index_of)
}
told() {  # the steps are those of the source, the notes are there
  expect 0 at "$work/run.trace64" 2 --regs --mem 0x7000,8
  [ -s "$work/err" ] && fail "is told: $(cat "$work/err")"
  has '2a 00 00 00 00 00 00 00'
  expect 0 print "$work/run.trace64"
  count '^step ' 6
  for text in 'a note in the trace' 'a note beside the trace' 'lost 4  3 events'; do
    has "$text"
  done
}
beside A
told
[ "$(index_of)" = "$made" ] || fail 'an index of this version was made anew'
expect 0 info "$work/run.trace64"
for text in /program /library; do has "$text"; done
expect 0 print --format jsonl "$work/run.trace64"
for text in '"gap_before":true' '"session":true' '"addr":"0x5000","size":3'; do
  count "$text" 1
done
for version in 4 B; do
  beside "${version/B/A}"
  [ $version = B ] && patch "$work/run.trace64.tidx" 6 B
  told
  [ "$(index_of)" != "$made" ] || fail "an index of version $version was not made anew"
  [ "$(head -c 7 "$work/run.trace64.tidx")" = TWTIDXA ] || fail "$version: it is another one"
done

# A user block of a version to come is kept, and its reader is told.
beside A
rm "$work"/run.trace64.*
patch "$work/run.trace64" \
  $(($(grep -abo TRACEWEL "$work/run.trace64" | tail -1 | cut -d: -f1) + 8)) '\x02'
expect 1 check "$work/run.trace64"
has "user-block-version at 0x"
has "a user block of Tracewell's of version 2, kind 2, which this release does not know"
expect 0 convert "$work/run.trace64" "$work/again.trace64"
grep -qaP 'TRACEWEL\x02\x02' "$work/again.trace64" || fail 'it is not kept'

# Rings that nobody has taken, of this version and of others.
unpack rings-3.tar.gz "$work/rings"
expect 0 check "$work/rings/log"
expect 0 print "$work/rings/log"
count '^hook .* 0x1234' 5
ring=$(echo "$work"/rings/log/.rings/*)
patch "$ring" 8 '\x4d'
expect 1 check "$work/rings/log"
has 'ring-version at 0x0'
has 'is a ring of version 77, which this release does not know'
unpack rings-1.tar.gz "$work/first"
expect 1 check "$work/first/log"
has 'is a ring of version 1, which this release does not know'

# Packets in a log.
unpack log-1.tar.gz "$work/logged"
expect 0 check "$work/logged/log"
expect 0 print "$work/logged/log"
count '^hook .* 0x1234' 5
has '5 records lost'
packets=$(echo "$work"/logged/log/[1-9]*)
patch "$packets" 20 '\x02'
expect 1 check "$work/logged/log"
has 'packet-version at 0x0'
has 'bytes are a packet of stream class 2, which this release does not know'

# A control file, what its programs have lost, and components: of a session that goes on here. Its
# log is gone. Counts say by an inode which control file they are of.
unpack control-2.tar.gz "$work/run"
control=$work/run/tracewell/hooks-2
mv "$work"/run/tracewell/failures-* \
  "$work/run/tracewell/failures-$(printf %x "$(stat -c %i "$control")")"
python3 - "$control" "$work"/run/tracewell/losses-1/* <<'PY'
import os, struct, sys
for path in sys.argv[2:]:
    with open(path, "r+b") as file:
        file.seek(24)
        file.write(struct.pack("<Q", os.stat(sys.argv[1]).st_ino))
PY
expect 0 ctctrl -D -c layouts.part
expect 0 print "$work/ct/layouts.part"
count '^hook' 3
expect 4 trcstop
has '/tmp/tracewell-layouts/log was removed while the trace ran into it' err
has '(5 records lost: ' err

# Those of the first versions are nobody's now, and are left alone.
rm -r "$work/run/tracewell" "$work/ct"
unpack control-1.tar.gz "$work/run"
sums() { (cd "$work/run/tracewell" && find ./*-1 -type f -exec sha256sum {} + | sort); }
before=$(sums)
expect 1 ctctrl -q
has 'no running program has components' err
expect 1 trcstop
has 'no trace runs' err
expect 0 trace -a -o "$work/log"
expect 0 trcstop
[ "$(sums)" = "$before" ] || fail 'files of another version were changed'

finish
