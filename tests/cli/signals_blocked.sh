#!/usr/bin/env bash
# Commands whose starter has signals blocked, as programs have that take them by a descriptor: what
# asks them to end ends them, and nothing of theirs stays. And where SIGCHLD is ignored, as by one
# who never waits, what they wait for has its status.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
blocked=(env --block-signal=HUP,INT,QUIT,TERM,ALRM,CHLD,USR1)
"${blocked[@]}" true 2>/dev/null || {
  echo 'not tested: env(1) cannot block signals here'
  finish
  exit
}
# ends PROCESS SIGNAL: within 20 s, by that signal
ends() {
  local status
  kill -s "$2" "$1"
  wait_until "it lives after SIG$2" sh -c "! kill -0 $1 || grep -q '^State:.Z' /proc/$1/status" ||
    kill -KILL "$1"
  wait "$1"
  status=$?
  [ "$status" = $((128 + $(kill -l "$2"))) ] || fail "SIG$2: it ends with $status"
}

ignoring=(env --ignore-signal=CHLD)
"${ignoring[@]}" "$tracewell" trace -o "$work/log" -x 'exit 7'
status=$?
[ $status = 7 ] || fail "a command that ends with 7 ends the trace with $status"
"${ignoring[@]}" "$tracewell" serve --once unix:nowhere/socket true 2>/dev/null
here=$?
"$tracewell" serve --once unix:nowhere/socket true 2>/dev/null
[ $here = $? ] || fail "serve ends with $here"

mkfifo "$work/pipe"
sleep 60 >"$work/pipe" &  # nobody writes
writer=$!
for signal in TERM HUP QUIT; do
  (ulimit -c 0 && exec "${blocked[@]}" "$tracewell" print "$work/pipe") >/dev/null 2>&1 &
  wait_until "it opens the pipe" sh -c "readlink /proc/$!/fd/* | grep -q '$work/pipe'"
  ends $! $signal
done
kill "$writer"

for signal in TERM HUP; do
  rm -f "$work/said"  # the one before has said the same
  "${blocked[@]}" "$tracewell" serve "unix:$work/socket" sleep 77 >"$work/said" 2>&1 &
  server=$!
  wait_until 'it does not listen' grep -q Listening "$work/said"
  program=$(sed -n 's/.*pid = \([0-9]*\).*/\1/p' "$work/said")
  [ -e "/proc/$program" ] || fail "no program: $(cat "$work/said")"
  ends $server $signal
  wait_until 'its program lives' test ! -e "/proc/$program"
done
finish
