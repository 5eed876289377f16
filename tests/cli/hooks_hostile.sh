#!/bin/bash
# skips; user
# Programs with trace hooks beside other users: rights that were given to a program are not passed
# on to what its caller names, and a folder that somebody else has taken keeps nobody from tracing.
. "${BASH_SOURCE%/*}/common.sh"
. "${BASH_SOURCE%/*}/hooks_common.sh"

# Threads that register their first components together: each has its own, and ctctrl sees it.
"$build/inferiors/component_threads" 200 >"$work/threads" ||
  fail "components of threads: $(cat "$work/threads") rounds failed"

be_two_users
chmod 755 "$work"

# A set-uid program that switches tracing: nothing of its caller's is run.
cat >"$work/switch.c" <<'C'
#include <stdio.h>
#include <sys/trcctl.h>
int main(void) { char words[] = "-a"; printf("%d %d\n", trcon(0), trcstart(words)); return 0; }
C
cc -I"$TRACEWELL_SOURCE/include" -I"$TRACEWELL_SOURCE/include/tracewell/aix" -o "$work/switch" \
  "$work/switch.c" "$build/lib/librts.a" || fail "no program that switches"
mkdir -m 777 "$work/theirs"
printf '#!/bin/sh\nid -u >%s\n' "$work/theirs/ran" >"$work/tracewell"
chmod 755 "$work/tracewell"
run_switch() {
  "${user[@]}" env TRACEWELL="$work/tracewell" PATH="$work:$PATH" "$work/switch" >"$work/out" 2>&1
}
run_switch
[ -f "$work/theirs/ran" ] || fail "an ordinary program did not start its tracewell"
rm -f "$work/theirs/ran"
chmod 4755 "$work/switch"
run_switch
has '-1 -1'
[ ! -e "$work/theirs/ran" ] || fail "ran as user $(cat "$work/theirs/ran")"

# Somebody else has the folder's usual name in /tmp.
squat=/tmp/tracewell-65534
[ ! -e "$squat" ] && [ ! -e /run/user/65534 ] || {
  echo "skipped: the user 65534 has folders of hooks here"
  exit 0
}
trap 'rm -rf "$work" "$squat" "$squat"-*' EXIT
cat >"$work/hooks.c" <<'C'
#include <sys/trchkid.h>
int main(void) { TRCHKL1(HKWD_USER1, 7); return 0; }
C
cc -I"$TRACEWELL_SOURCE/include" -I"$TRACEWELL_SOURCE/include/tracewell/aix" -o "$work/hooks" \
  "$work/hooks.c" "$build/lib/librts.a" || fail "no program with hooks"
theirs() { "${user[@]}" env -u XDG_RUNTIME_DIR XDG_STATE_HOME="$work/theirs" "$@"; }
for how in folder link open; do
  rm -rf "$squat" "$squat"-* "$work/theirs/log"
  case $how in
    folder) mkdir -m 700 "$squat" ;;
    link) ln -s "$work/theirs" "$squat" ;;
    open) mkdir "$squat" && chown 65534 "$squat" && chmod 777 "$squat" ;;
  esac
  # A program that came first makes a place; the command finds it.
  theirs "$work/hooks"
  theirs "$tracewell" trace -a -f -o "$work/theirs/log" >"$work/out" 2>"$work/err" ||
    fail "$how: $(cat "$work/err")"
  has "$squat-" err
  has 'instead' err
  theirs "$work/hooks"
  theirs "$tracewell" trcstop >"$work/out" 2>"$work/err" || fail "$how: $(cat "$work/err")"
  theirs "$tracewell" buffers >"$work/out" 2>&1
  has "no trace buffers in $squat-"
  "$tracewell" print "$work/theirs/log" >"$work/out"
  has '0100.0 0x7'
  [ "$(find /tmp -maxdepth 1 -name "${squat##*/}-*" | wc -l)" = 1 ] || fail "$how: several places"
done

# A log in a folder of everybody's may have been moved there: it is not cleared.
mv "$work/theirs/log" "$work/theirs/other"
theirs "$tracewell" trace -a -f -o "$work/theirs/other" >"$work/out" 2>"$work/err"
[ $? = 2 ] || fail "a log was cleared"
has 'others may have put it there' err
"$tracewell" print "$work/theirs/other" >"$work/out"
has '0100.0 0x7'
chmod +t "$work/theirs"
theirs "$tracewell" trace -a -f -o "$work/theirs/other" >"$work/out" 2>"$work/err" ||
  fail "its own in a sticky folder: $(cat "$work/err")"
theirs "$tracewell" trcstop >"$work/out" 2>"$work/err" || fail "trcstop: $(cat "$work/err")"
finish
