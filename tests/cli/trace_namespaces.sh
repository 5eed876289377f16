#!/usr/bin/env bash
# skips
# Programs in PID and time namespaces of their own, as containers have them: by their number and
# their start they look like others that have ended. And programs and commands that are in one
# container together.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
for way in '' -Ur; do
  # shellcheck disable=SC2086
  unshare $way -pf --kill-child sh -c 'echo 100 >/proc/sys/kernel/ns_last_pid' 2>/dev/null && break
  [ -n "$way" ] && {
    echo 'skipped: no namespaces may be made here'
    exit 0
  }
done
export TRACEWELL_COMPONENTS=$work/good TRACEWELL_COMPONENT_LOGS=$work/ct
cat >"$work/fires.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/ras_trace.h>
#include <sys/trchkid.h>
#include <sys/trcmacros.h>
/* HOOKS for each line that comes. */
int main(int argc, char **argv)
{
  char line[100];
  ras_block_t net = RAS_BLOCK_NULL;
  int i, round = 0;
  if (argc > 2) net = tracewell_component_register("server.net", "net", "io_network");
  while (fgets(line, sizeof line, stdin)) {
    for (i = 0; i < atoi(argv[1]); ++i) {
      TRCHKL2(0x01000000, i, round);
      CT_HOOK2(net, 1, MT_PRIV, 0x01000000, i, round);
    }
    ++round;
    puts("done");
    fflush(stdout);
  }
  return 0;
}
C
cc -Wall -Wextra -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail 'fires.c'

# start COMMAND…: waits for lines, in the namespaces of $way
start() {
  # shellcheck disable=SC2086
  coproc program { exec unshare $way "$@"; }
  in=${program[1]} out=${program[0]}
}
round() {
  echo go >&"$in"
  read -r line <&"$out" && [ "$line" = done ] || fail "a round: $line"
}
end() {
  local pid=$program_PID
  exec {in}>&-
  wait "$pid" || fail "the program ends with $?"
}
# A number that nobody has here, and one that a process of the same user has.
free=$(cat /proc/sys/kernel/pid_max)
until [ ! -e "/proc/$((--free))" ]; do :; done
sleep 60 &
taken=$!
in_pid_namespace() {  # NUMBER COMMAND…
  local number=$1
  shift
  start -pf --kill-child sh -c "echo $((number - 1)) >/proc/sys/kernel/ns_last_pid; \"\$@\"" sh "$@"
}

for number in $free $taken; do
  trace -a -o "$work/log" || fail 'trace'
  in_pid_namespace "$number" "$work/fires" 100
  round
  # A collector that sees a program end asks who else is there.
  (echo go; sleep 1) | "$work/fires" 10 >/dev/null
  sleep 0.5
  round
  round
  end
  trcstop || fail 'trcstop'
  expect 0 check "$work/log"
  has 'sound, 310 events'
  expect 0 print --format jsonl "$work/log"
  [ "$(grep '"kind":"hook"' "$work/out" | grep -c "\"pid\":$number[,}]")" = 300 ] ||
    fail "number $number is not that of the program"
  rm -r "$work/log"
done

# Programs and commands in one container, with folders of its own: hooks are traced by the names and
# numbers that programs have there, while the same user traces another program outside.
cat >"$work/inside.sh" <<'S'
set -e
mount -t tmpfs -o mode=700 tmpfs "$XDG_RUNTIME_DIR"
mount -t tmpfs -o mode=700 tmpfs "$work/there"
for name in first second; do
  cp "$work/fires" "$work/there/$name"
  mkfifo "$work/there/$name.in" "$work/there/$name.out"
done
trace -a -o "$work/log"
"$work/there/first" 100 <"$work/there/first.in" >"$work/there/first.out" &
echo $! >"$work/first"
exec 5>"$work/there/first.in" 6<"$work/there/first.out"
"$work/there/second" 10 net <"$work/there/second.in" >"$work/there/second.out" &
echo $! >"$work/second"
exec 7>"$work/there/second.in" 8<"$work/there/second.out"
round() {
  echo go >&5
  read -r line <&6
  echo go >&7
  read -r line <&8
}
round
trcoff
round
trcon
round
"$tracewell" ctctrl -c server -r memtraceon >&2
round
"$tracewell" ctctrl -D -d "$work/dump" >&2
exec 5>&- 7>&-
wait
trcstop
S
mkdir "$work/there"
trace -a -o "$work/outer" || fail 'trace outside'
# shellcheck disable=SC2086
work=$work tracewell=$tracewell unshare $way -pmf --mount-proc --kill-child sh "$work/inside.sh" \
  >"$work/said" 2>&1 || fail "in the container: $(cat "$work/said")"
echo go | "$work/fires" 7 >/dev/null
trcstop || fail 'trcstop outside'
expect 0 check "$work/outer"
has 'sound, 7 events'
expect 0 check "$work/log"
has 'sound, 330 events'
expect 0 print --format jsonl "$work/log"
for each in first:300 second:30; do
  name=${each%:*} pid=$(cat "$work/${each%:*}")
  has "\"text\":\"process $pid: $work/there/$name\""
  [ "$(grep '"kind":"hook"' "$work/out" | grep -c "\"pid\":$pid[,}]")" = "${each#*:}" ] ||
    fail "$name has not the hooks of process $pid"
done
expect 0 check "$work/dump/server.net"
has 'sound, 10 events'
rm -r "$work/log" "$work/outer" "$work/dump"

# Its buffers are not a dead program's.
trace -a -l -o "$work/log" || fail 'trace -l'
in_pid_namespace "$free" "$work/fires" 100
round
expect 2 trcdead -o "$work/other" "$work/log"
has "process $free still writes to" err
end
trcstop || fail 'trcstop'
expect 0 check "$work/log"
has 'sound, 100 events'
rm -r "$work/log"

# Components: in neither kind of namespace a program is dead that lives.
for kind in pid time; do
  if [ $kind = pid ]; then
    in_pid_namespace "$free" "$work/fires" 100 net
  else
    unshare ${way:+$way} -T --boottime 100000 true 2>/dev/null || continue
    start -T --boottime 100000 "$work/fires" 100 net
  fi
  round
  "$tracewell" ctctrl -c server -r memtraceon || fail 'memtraceon'
  round
  expect 0 ctctrl -q
  has 'server.net'
  grep -q dead "$work/out" && fail "$kind: it is called dead"
  expect 1 ctctrl --forget
  expect 0 ctctrl -D -d "$work/dump"
  expect 0 check "$work/dump/server.net"
  has 'sound, 100 events'
  end
  expect 0 ctctrl -q
  has '(dead)'
  expect 0 ctctrl --forget
  rm -r "$work/dump"
done
kill "$taken"

# A clock that is ahead while the trace begins, or ends.
if unshare ${way:+$way} -T --monotonic 3600 true 2>/dev/null; then
  for ends in '' yes; do
    begins=(unshare ${way:+$way} -T --monotonic 3600)
    stops=()
    [ -n "$ends" ] && stops=("${begins[@]}") && begins=()
    "${begins[@]}" "$tracewell" trace -a -l -o "$work/log" || fail 'trace'
    before=$(sed -n 's/.*freq = \([0-9]*\).*/\1/p' "$work/log/metadata")
    "${stops[@]}" "$tracewell" trcstop || fail 'trcstop'
    after=$(sed -n 's/.*freq = \([0-9]*\).*/\1/p' "$work/log/metadata")
    [ "$after" -gt $((before * 99 / 100)) ] && [ "$after" -lt $((before * 101 / 100)) ] ||
      fail "the clock ticks at $after Hz, and $before at the begin"
    rm -r "$work/log"
  done
fi
finish
