#!/usr/bin/env bash
# Logs that cannot be begun or completed, and what is in the way of a new one: the next try finds
# what it needs, and nothing that was recorded is lost.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log
cat >"$work/fires.c" <<'C'
#include <sys/trchkid.h>
int main(void)
{
  int i;
  for (i = 0; i < 150; ++i) TRCHKL2(HKWD_USER1, i, 7);
  return 0;
}
C
cc -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail "fires.c"
hooks() {  # COUNT LOG
  "$tracewell" print --where 'kind == "hook"' "$2" >"$work/out" 2>"$work/err"
  lines "$1"
}
trace -a -o "$log" || fail trace
trcstop || fail trcstop

# There is no room for the metadata. Nothing is left of it, and the next try works.
rm -r "$log"
for option in -a -al -ad; do
  (ulimit -f 1 && trace "$option" -o "$log") 2>"$work/err"
  [ $? = 4 ] || fail "trace $option without room"
  has "$log/metadata: File too large" err
  [ -e "$log" ] && fail "trace $option leaves $(ls -A "$log")"
  trcstop 2>"$work/err" && fail "trace $option: a trace runs"
  trace "$option" -o "$log" || fail "the next trace $option"
  trcstop || fail "trcstop"
  rm -r "$log"
done
# Its maker died before there was anything in it; what anybody else may have made stays.
for half in .rings '.rings .lock'; do
  mkdir -p "$log/.rings"
  [ "$half" = .rings ] || : >"$log/.lock"
  trace -a -o "$log" || fail "trace into a folder that was only begun: $half"
  trcstop || fail trcstop
  rm -r "$log"
done
for file in notes .rings/notes; do
  mkdir -p "$log/.rings"
  : >"$log/$file"
  trace -a -o "$log" 2>"$work/err" && fail "$file went"
  has "$log is there, and is no log of trace hooks" err
  [ -e "$log/$file" ] || fail "$file is gone"
  rm -r "$log"
done

# There is no room for what is in buffers at the end: they stay, and are told.
trace -af -T 256k -o "$log" || fail "trace"
"$work/fires"
(ulimit -f 1 && trcstop) 2>"$work/err"
[ $? = 4 ] || fail "trcstop without room: $(cat "$work/err")"
has 'File too large' err
has "trcdead $log" err
trcstop 2>"$work/err" && fail "a trace runs"
trace -a -o "$log" 2>"$work/err"
[ $? = 2 ] || fail "a new log in its place"
has "$log has hooks that nobody has collected: \`trcdead $log\` does" err
cp -r "$log" "$work/copy"
expect 0 trcdead "$log"
hooks 150 "$log"
# -c would lose those that are in the old one.
cp -r "$work/copy" "$log.old"
trace -ac -o "$log" 2>"$work/err" && fail "the oldest log went"
has "$log.old has hooks that nobody has collected: \`trcdead $log.old\` does" err
expect 0 trcdead "$log.old"
trace -ac -o "$log" || fail "trace -c"
trcstop || fail trcstop
hooks 150 "$log.old"

# A ring of another session, alone, and beside one of the log's own.
ring=$(basename "$(echo "$work"/copy/.rings/*)")
for own in 0 1; do
  trace -af -T 256k -o "$log" || fail "trace"
  "$work/fires"
  if [ $own = 0 ]; then trcstop; else (ulimit -f 1 && trcstop) 2>"$work/err"; fi
  mkdir -p "$log/.rings"
  cp "$work/copy/.rings/$ring" "$log/.rings/$ring"
  if [ $own = 1 ]; then
    expect 0 trcdead "$log"
    has ' of 1 ring'
  fi
  hooks 150 "$log"
  trace -a -o "$log" 2>"$work/err"
  [ $? = 2 ] || fail "over a ring of another session"
  has "$log/.rings/$ring has hooks of another session than the log" err
  has "trcdead -o OTHER_LOG $log/.rings/$ring" err
  cp "$log/.rings/$ring" "$work/1-0"
  trcdead -o "$work/rescued" "$work/1-0" 2>"$work/err"
  [ $? = 2 ] || fail "a ring with the name of another"
  has "$work/1-0 says of itself that it is $ring: if it is a copy, give it that name" err
  mv "$work/1-0" "$work/copy.ring"
  expect 0 trcdead -o "$work/rescued" "$work/copy.ring"
  hooks 150 "$work/rescued"
  rm -r "$work/rescued"
  expect 0 trcdead -o "$work/rescued" "$log/.rings/$ring"
  hooks 150 "$work/rescued"
  rm -r "$log/.rings/$ring" "$work/rescued"
  trace -a -o "$log" || fail "trace once the ring was taken and removed"
  trcstop || fail trcstop
done
# And what is no ring.
mkdir -p "$log/.rings"
: >"$log/.rings/notes"
trace -a -o "$log" 2>"$work/err" && fail "what is no ring went"
has "$log/.rings/notes is no ring of trace hooks" err
finish
