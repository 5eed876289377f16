#!/usr/bin/env bash
# Logs of trace hooks of several users in one report (report_owners.sh has files): a log is a user's
# if its folder and all of its files are. Needs root, to be two users.
# skips
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
be_two_users
export TZ=UTC
mallory=65534 alice=65533
chmod 711 "$work"
cp "$tracewell" "$work/tool"
cat >"$work/fires.c" <<'C'
#include <stdlib.h>
#include <sys/trchkid.h>
int main(int argc, char **argv)
{
  for (int i = 1; i < argc; ++i) TRCHKL1(HKWD_USER1, strtoul(argv[i], 0, 0));
  return 0;
}
C
cc -static -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$build/lib" -lrts || fail "fires.c"
chmod 755 "$work/tool" "$work/fires"
cat >"$work/templates" <<'END'
010 1.0 L=APPL "work" $D1%D4 $D1%D4, 666 { "last" $STOP }
END
as() {  # UID COMMAND…
  local uid=$1
  shift
  (cd "$work/$uid" && setpriv --reuid="$uid" --regid="$uid" --clear-groups \
    env XDG_RUNTIME_DIR="$work/$uid/run" XDG_STATE_HOME="$work/$uid/state" HOME="$work/$uid" "$@")
}
# Mallory's first event is before alice's, and so is the one that says $STOP.
for uid in $mallory $alice; do
  mkdir -m 700 "$work/$uid" "$work/$uid/run"
  chown -R "$uid:$uid" "$work/$uid"
done
logs() {  # UID LOG NUMBER…
  local uid=$1 log=$2
  shift 2
  as "$uid" "$work/tool" trace -a -o "$log" || fail "trace of $uid"
  as "$uid" "$work/fires" "$@" || fail "a program of $uid"
  as "$uid" "$work/tool" trcstop || fail "trcstop of $uid"
}
logs $mallory one 1 666 2
logs $mallory two 3
logs $alice mine 5 6
one=$work/$mallory/one two=$work/$mallory/two mine=$work/$alice/mine
works() {  # the numbers that were reported
  grep -o 'work [0-9]*' "$work/out" | tr -dc '0-9\n' | paste -sd ' '
}
report() {  # WANTED ARGS…
  local wanted=$1
  shift
  expect 0 report -t "$work/templates" -h -d 010 "$@"
  [ "$(works)" = "$wanted" ] || fail "report $*: $(works), not $wanted"
}
report '1 666 5 6' -m "$one" "$two" "$mine"
has '($STOP): for all logs of user' err
report '1 666 5 6' "$one" "$two" "$mine"
has '($STOP): for all logs of user' err
report '1 666 5 6' --follow -m "$one" "$two" "$mine"
has '($STOP): for all logs of user' err
report '3 1 666 5 6' "$two" "$one" "$mine"

# Times are those of the owner, also by what a log says of when it began.
expect 0 report -t "$work/templates" -h -d 010 -O timestamp=2 "$mine"
alone=$(awk '{ print $2; exit }' "$work/out")
expect 0 report -t "$work/templates" -h -d 010 -O timestamp=2 -m "$one" "$mine"
[ "$(awk '/work 5/ { print $2; exit }' "$work/out")" = "$alone" ] ||
  fail "another one's log moves times: $(cat "$work/out")"
expect 0 report -t "$work/templates" -d 010 -m "$one" "$mine"
[ "$(grep -c '^Times from: ' "$work/out")" = 2 ] || fail "the heading: $(cat "$work/out")"
expect 0 report -t "$work/templates" -d 010 -m "$one" "$two"
if grep -q '^Times from: ' "$work/out"; then fail "the heading of one owner: $(cat "$work/out")"; fi

# A log that is of two users is nobody's: it is not one of alice's that ends her others, nor of
# those that mallory's ends.
stream=$(find "$two" -maxdepth 1 -name '[0-9]*' | head -1)
[ -n "$stream" ] || fail "no stream in $two"
chown $alice "$stream"
report '1 666 3 5 6' -m "$one" "$two" "$mine"
has 'for all logs of user' err
mv "$two" "$two.all"
cp -a "$one" "$two"
stream=$(find "$two" -maxdepth 1 -name '[0-9]*' | head -1)
chown -R $alice "$two"
chown $mallory "$stream"
report '1 666 5 6' -m "$two" "$mine"
has 'for this log, whose owner is not known' err
# Nor is one in whose folder everybody may put files.
chown $alice "$stream"
chmod 777 "$two"
report '1 666 5 6' -m "$two" "$mine"
has 'for this log, whose owner is not known' err
# Of alice's, it ends hers.
chmod 755 "$two"
report '1 666' -m "$two" "$mine"
[ -s "$work/err" ] && fail "of one owner: $(cat "$work/err")"
# One of the files of a log that is named alone is of that log.
report '1 666' -m "$two/metadata" "$mine"
chmod 777 "$two"
report '1 666 5 6' -m "$two/metadata" "$mine"
finish
