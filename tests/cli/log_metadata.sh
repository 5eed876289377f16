#!/usr/bin/env bash
# Whose times hooks have: those of the metadata of their own log. What lies beside a file of a log
# may be another's, and may be put there by others.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
cat >"$work/fires.c" <<'C'
#include <sys/trchkid.h>
int main(void) { TRCHKL1(HKWD_USER1, 7); return 0; }
C
cc -static -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$build/lib" -lrts || fail 'fires.c'
for log in one two; do
  expect 0 trace -a -o "$work/$log"
  "$work/fires" || fail 'fires'
  expect 0 trcstop
done
stream() { find "$work/$1" -name '[1-9]*-*'; }
name=$(basename "$(stream one)")
year=$(date -u +%Y)
# times HOW-MANY WHAT: so many of its hooks have a time.
times() {
  local wanted=$1
  expect 0 print --where 'kind == "hook"' "$2"
  [ "$(grep -c " $year-" "$work/out")" = "$wanted" ] || fail "$2: $(cat "$work/out" "$work/err")"
}
times 1 "$work/one"
times 1 "$work/one/$name"

# Beside a file that is read alone.
mkdir "$work/alone"
cp "$work/one/$name" "$work/alone"
times 0 "$work/alone/$name"
expect 0 check "$work/alone/$name"
has 'the log'\''s file metadata is not beside it'
cp "$work/two/metadata" "$work/alone"
times 0 "$work/alone/$name"
has 'the file metadata beside it is of another session; times are not known' err
grep -v uuid "$work/one/metadata" >"$work/alone/metadata"
times 0 "$work/alone/$name"
cp "$work/one/metadata" "$work/alone"
times 1 "$work/alone/$name"
chmod 666 "$work/alone/metadata"
times 0 "$work/alone/$name"
has 'may be written by others' err
chmod 644 "$work/alone/metadata"
if [ "$(id -u)" = 0 ]; then
  chown 65534 "$work/alone/metadata"
  times 0 "$work/alone/$name"
  has 'belongs to' err
fi

# Nothing is beside standard input.
(cd "$work/one" && "$tracewell" print --where 'kind == "hook"' - <"$name" >"$work/out" \
  2>"$work/err")
lines 1
grep -q " $year-" "$work/out" && fail "standard input has times: $(cat "$work/out")"
(cd "$work/one" && "$tracewell" check - <"$name" >"$work/out" 2>&1)
has 'the log'\''s file metadata is not beside it'

# A log that has another's metadata, or another's files.
mkdir "$work/mixed"
cp "$work/one/"* "$work/mixed"
cp "$(stream two)" "$work/mixed/77-0-1.0"
times 1 "$work/mixed"
lines 2
has "packets of another session than the log's, by its metadata: 1; their times are not" err
expect 1 check "$work/mixed"
has other-session
cp "$work/two/metadata" "$work/mixed"
times 1 "$work/mixed"
finish
