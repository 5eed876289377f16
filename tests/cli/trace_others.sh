#!/usr/bin/env bash
# A user controls and sees his own processes only. Needs root, to be two users.
# skips
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
be_two_users
log=$work/log
other() {  # COMMAND…: as nobody
  "${user[@]}" env "$@"
}
cat >"$work/fire.c" <<'C'
#include <stdio.h>
#include <sys/trchkid.h>
int main(int argc, char **argv)
{
  if (argc > 1 && printf("ready\n") > 0 && fflush(stdout) == 0) getchar();
  TRCHKL1(HKWD_USER1, argc);
  return argv == 0;
}
C
cc -static -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fire.c" -o "$work/fire" \
  -L"$build/lib" -lrts || fail "fire.c does not build"
# The programs where he can reach them; everything else stays ours.
chmod 711 "$work"
cp "$tracewell" "$work/tool"
chmod 755 "$work/tool" "$work/fire"
mkdir -m 700 "$work/his"
chown 65534:65534 "$work/his"
hooks() {  # LOG COUNT
  "$tracewell" print --where 'kind == "hook"' "$1" >"$work/out" 2>/dev/null
  lines "$2"
}

# His programs run as they do without a trace, and ours does not see them: neither those that have
# their own folder nor those that are pointed at ours.
trace -a -o "$log" || fail "trace"
other XDG_RUNTIME_DIR="$work/his" "$work/fire" || fail "his program"
other "$work/fire" || fail "his program that looks at our folder"
"$work/fire"
# He cannot switch our trace, nor read it.
for command in trcstop trcoff trcon 'trace -a -o /tmp/none' 'ctctrl -c all memtraceon'; do
  # shellcheck disable=SC2086
  other "$work/tool" $command >"$work/out" 2>"$work/err" && fail "his $command on our folder"
  grep -qE 'Permission denied|belongs to somebody else' "$work/err" ||
    fail "his $command: $(cat "$work/err")"
done
other "$work/tool" print "$log" >/dev/null 2>&1 && fail "he reads our log"
# Nor we his processes.
coproc his { exec "${user[@]}" env XDG_RUNTIME_DIR="$work/his" "$work/fire" wait; }
pid=$his_PID
read -r _ <&"${his[0]}"
for option in -A -t; do
  trace -ag "$option" "$pid" -o "$work/one" 2>"$work/err" && fail "trace $option of his process"
  has "$option: $pid is another user's (user 65534)" err
done
[ -e "$work/one" ] && fail "a log of what was refused"
echo >&"${his[1]}"
wait "$pid" || fail "his process"
trcstop || fail "trcstop"
hooks "$log" 1

# Nobody is told of his processes, whatever they have mapped. (others_test.cc: nor looked at.)
cat >"$work/maps.py" <<'PY'
import mmap, os, signal, sys
file = open(sys.argv[1], "w+b")
file.truncate(4096)
memory = mmap.mmap(file.fileno(), 4096)
os.setresuid(*[int(sys.argv[2])] * 3)
print("mapped", flush=True)
signal.pause()
PY
for who in 0 65534; do
  python3 "$work/maps.py" "$work/run/tracewell/hooks-9" $who >"$work/said" &
  pid=$!
  wait_until "nothing is mapped" grep -q mapped "$work/said"
  trace -a -o "$log" 2>"$work/err" || fail "trace beside a process of $who"
  trcstop 2>/dev/null || fail trcstop
  if [ $who = 0 ]; then
    has "(process $pid) is not traced: its librts is of another version (hooks-9" err
  else
    [ -s "$work/err" ] && fail "his process is told: $(cat "$work/err")"
  fi
  kill $pid
  wait $pid 2>/dev/null
done

# He has traces of his own, with the same log for a name as we have not.
mkdir -m 700 "$work/his/run"
chown 65534:65534 "$work/his/run"
his=(XDG_RUNTIME_DIR="$work/his/run" XDG_STATE_HOME="$work/his/state")
other "${his[@]}" "$work/tool" trace -a -o "$work/his/log" || fail "his trace"
"$work/fire"
other "${his[@]}" "$work/fire"
# A control file that others may have written is none: not for a third user, either, who meets his
# own programs elsewhere. trace_places.sh
third=65530
[ -e /tmp/tracewell-$third ] || {
  trap 'rm -rf "$work" /tmp/tracewell-$third' EXIT
  user=(setpriv --reuid=$third --regid=$third --clear-groups)
  chmod 711 "$work/his"
  other "${his[@]}" "$work/fire" || fail "a third one's program that looks at his folder"
  other "${his[@]}" "$work/tool" trcstop 2>"$work/err" && fail "a third one's trcstop on his folder"
  has "$work/his belongs to user" err
  user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
}
other "${his[@]}" "$work/tool" trcstop || fail "his trcstop"
hooks "$work/his/log" 1

finish
