#!/usr/bin/env bash
# labels: answers
# Ends of a trace that nobody planned: Ctrl-C and other signals to `trace`, its death, that of its
# collector; and what the collector needs goes away under it.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log
cat >"$work/fires.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <sys/trchkid.h>
static void *fire(void *count)
{
  int i;
  for (i = 0; i < *(int *)count; ++i) TRCHKL1(HKWD_USER1, i);
  return 0;
}
/* For each line of its input, a number of hooks by the first thread; by one of its own where the
   line begins with t. */
int main(void)
{
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    int count = atoi(line + (line[0] == 't'));
    pthread_t thread;
    if (line[0] == 't') {
      pthread_create(&thread, 0, fire, &count);
      pthread_join(thread, 0);
    } else {
      fire(&count);
    }
    puts("fired");
    fflush(stdout);
  }
  return 0;
}
C
cc -pthread -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail "fires.c"
begin() { coproc program { exec "$work/fires"; }; }
fire() {  # COUNT: returns when that many hooks were fired
  echo "$1" >&"${program[1]}"
  read -r _ <&"${program[0]}"
}
end() {
  local pid=$program_PID
  eval "exec ${program[1]}>&-"
  wait "$pid" || fail "the program: $?"
}
hooks() {  # COUNT [LOG]
  "$tracewell" print --where 'kind == "hook"' "${2:-$log}" >"$work/out" 2>"$work/err"
  lines "$1"
}
no_trace_runs() {
  trcstop 2>"$work/err" && fail "$1: a trace runs"
  has 'no trace runs on channel 0' err
}

# Signals to the dialogue, and to -x: the log is complete when trace is gone, and the command of -x
# lives on. A shell leaves SIGINT ignored in what it starts in the background: hence python3.
cat >"$work/send.py" <<'PY'
import signal, subprocess, sys
number, wanted, words = getattr(signal, sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
child.stdout.read(2)  # the prompt, or what the command says
child.send_signal(number)
sys.exit(0 if child.wait(60) == wanted else print(child.returncode) or 1)
PY
for mode in '' -l -f; do
  for signal in INT TERM HUP QUIT KILL; do
    number=$(kill -l "$signal")
    wanted=-$number
    [ $signal = INT ] && wanted=0
    for way in prompt -x; do
      # As from a terminal, Ctrl-C reaches the command of -x, too; alone it does not end the trace.
      [ $way = -x ] && [ $signal = INT ] && continue
      [ $way = -x ] && [ $signal = QUIT ] && continue
      command=(trace)
      [ -n "$mode" ] && command+=("$mode")
      command+=(-o "$log")
      [ $way = -x ] && command+=(-x 'echo runs; read wait')
      begin
      fire 1
      python3 "$work/send.py" "SIG$signal" "$wanted" "${command[@]}" >"$work/out" 2>&1 ||
        fail "trace $mode $way by $signal: $(cat "$work/out")"
      if [ $signal = KILL ]; then
        wait_until "trace $mode $way was killed, and it goes on" \
          grep -q 'TRACE OFF channel 0' "$log/0-0.0"
        wait_until "the log is locked" test ! -e "$log/.lock"
      fi
      fire 1
      end
      no_trace_runs "$mode $way $signal"
      [ -e "$log/.rings" ] && fail "$mode $way $signal: rings are left"
      hooks 0
    done
  done
done
# What was recorded until then is there.
mkfifo "$work/in" "$work/said"
begin
trace -o "$log" <"$work/in" >"$work/said" &
pid=$!
exec 5>"$work/in" 6<"$work/said"
read -r -N 2 _ <&6
fire 7
kill -TERM $pid
wait $pid
[ $? = 143 ] || fail "trace did not end by SIGTERM"
exec 5>&- 6<&-
hooks 7
end

# A collector that is held (by SIGSTOP; it may be a disk): the first signal waits for it, a later
# one ends trace all the same. Its guard ends the session once the collector goes on.
begin
trace -o "$log" <"$work/in" >"$work/said" 2>"$work/err" &
pid=$!
exec 5>"$work/in" 6<"$work/said"
read -r -N 2 _ <&6
fire 7
collector=$(collectors)
kill -STOP "$collector"
has_ended() {
  ! kill -TERM $pid
}
wait_until "trace is deaf while it waits for its collector" has_ended
[ -e "/proc/$collector" ] || fail "the collector has ended"
kill -CONT "$collector"
wait $pid
[ $? = 143 ] || fail "trace did not end by SIGTERM"
exec 5>&- 6<&-
wait_until "nobody ends the session" grep -q 'TRACE OFF channel 0' "$log/0-0.0"
wait_until "the log is locked" test ! -e "$log/.lock"
end
hooks 7
no_trace_runs "the collector was held"

# A collector that was killed: every command that looks says so, what buffers hold is not lost.
begin
trace -a -o "$log" || fail trace
fire 10
kill_collector
fire 10
for command in trcoff trcon "trcctl -l" "trace -ag -o $work/other" "trcstop -1" \
  "trace -a -o $work/other"; do
  # shellcheck disable=SC2086
  $command >"$work/out" 2>"$work/err"
  has 'the collector of the trace on channel 0 was killed' err
  has "trcdead -o OTHER_LOG $log" err
done
trcstop 2>"$work/err" || fail "trcstop without a collector"
has 'the collector of the trace on channel 0 was killed' err
end
hooks 20
trcctl -l 2>"$work/err" >"$work/out"
[ -s "$work/err" ] && fail "it is told of a trace that is over: $(cat "$work/err")"
# Where it was killed, and all is well, nothing is told.
trace -a -o "$log" 2>"$work/err"
trcoff 2>>"$work/err"
trcstop 2>>"$work/err"
[ -s "$work/err" ] && fail "told: $(cat "$work/err")"

# The control file goes: the collector ends the trace, and says why in the log.
begin
trace -a -o "$log" || fail trace
fire 10
rm -r "$work/run/tracewell"
trcstop 2>"$work/err" && fail "it stopped a trace that it cannot see"
grep 'is not traced' "$work/err" | grep -v "$work/fires" && fail "of what has no hooks"
wait_until "the collector goes on" grep -q 'TRACE OFF channel 0, since its control file' \
  "$log/0-0.0"
wait_until "the log is locked" test ! -e "$log/.lock"
fire 10
end
hooks 10
expect 0 report "$log"
has "since its control file $work/run/tracewell/hooks-2 was removed"
[ -e "$log/.rings" ] && fail "rings are left"
trace -a -o "$log" || fail "the next trace into the log"
trcstop || fail trcstop
# And so does a trace in the foreground.
begin
trace -o "$log" <"$work/in" >"$work/said" 2>"$work/err" &
pid=$!
exec 5>"$work/in" 6<"$work/said"
read -r -N 2 _ <&6
fire 10
rm -r "$work/run/tracewell"
wait_until "the collector goes on" grep -q 'TRACE OFF channel 0, since' "$log/0-0.0"
echo q >&5
wait $pid && fail "it ended well"
exec 5>&- 6<&-
# Whether it asked before or behind the collector's end.
grep -qE '(no trace runs on channel 0; the last one|the trace) has ended: its control file' \
  "$work/err" || fail "why it ended: $(cat "$work/err")"
end
hooks 10

# The log is moved: it is followed; threads that begin between two looks are counted. The buffer
# holds all of it, however late the collector comes.
begin
trace -a -T 8m -o "$log" || fail trace
fire 10
rm -rf "$work/moved"
mv "$log" "$work/moved"
fire 100000
wait_until "it was not followed" grep -q 'LOG MOVED' "$work/moved/0-0.0"
fire t10
trcoff || fail "trcoff of a log that was moved"
trcon || fail trcon
trcstop || fail "trcstop of a log that was moved"
end
[ -e "$log" ] && fail "the log is at its old place"
hooks 100020 "$work/moved"
expect 0 report "$work/moved"
has "LOG MOVED from $log to $work/moved"
# At once.
begin
trace -a -o "$log" || fail trace
fire 10
rm -rf "$work/moved"
mv "$log" "$work/moved"
trcstop || fail "trcstop of a log that was just moved"
end
hooks 10 "$work/moved"
finish
