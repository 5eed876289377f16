#!/usr/bin/env bash
# tracewell report of logs of trace hooks: AIX's command lines, and a log that grows.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
export TZ=UTC TRACEWELL_LOG=$work/log

# Fires a hook for each line of its input, so that the test knows when.
cat >"$work/lines.c" <<'C'
#include <sys/trchkid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
  char line[256];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    TRCHKL2(0x01000001, strlen(line), 0x1234);
    TRCGEN(0, 0x01000002, strlen(line), strlen(line), line);
    puts("done");
    fflush(stdout);
  }
  return 0;
}
C
cc -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/lines.c" -o "$work/lines" -L"$build/lib" \
  -lrts -Wl,-rpath,"$build/lib" || fail "lines.c does not build"
cat >"$work/mine" <<'END'
010 1.0 L=APPL "Line" $HD, 1 { "length="$D1%D4 }, 2 { "text=" G16 LOOP $HL {A0} }
END

# What is not there is not followed, and it is said why.
expect 4 report "$work/nolog" --follow
has 'nolog: there is no such log (yet)' err
mkdir "$work/empty"
expect 4 report "$work/empty" --follow
has 'empty is a folder, and no log' err
expect 3 report "$work/lines.c" --follow
has 'only logs of trace hooks can be followed' err

# The whole way, by AIX's names.
trace -aj 010 || fail "trace"
printf 'one\ntwo words\n' | "$work/lines" >/dev/null
trcstop || fail "trcstop"
trcrpt -t "$work/mine" >"$work/out" || fail "trcrpt"
has 'Buffering: alternate'
has 'trace -aj 010'
has 'TRACE ON channel 0'
has 'Line length=9'
has 'Line text=two words'
has 'TRACE OFF channel 0'
trcrpt -t "$work/mine" -h -d 010:2 -p lines -O timestamp=3,exec=on >"$work/out" || fail "trcrpt -p"
lines 2
has '010   lines            Line text=one'
trcrpt -h -d 010 -O timestamp=3 >"$work/out" || fail "no template"
has 'traceid 0100 hookword 8000002001000001 type 8000'

# A log that grows: each line is there before the next one is asked for.
wait_for() {  # TEXT FILE
  local i
  for ((i = 0; i < 600; i++)); do
    grep -qF -- "$1" "$2" && return
    read -rt 0.05 <> <(:)
  done
  fail "\"$1\" does not come:"
  cat "$2"
}
trace -a || fail "trace"
"$tracewell" report --follow -h -t "$work/mine" -d 010 -O timestamp=3 >"$work/followed" \
  2>"$work/err" &
follower=$!
coproc program { "$work/lines"; }
program_id=$program_PID to=${program[1]} from=${program[0]}
for i in 1 2 3; do
  echo "line $i" >&"$to"
  read -r <&"$from"
  wait_for "text=line $i" "$work/followed"
  kill -0 $follower || fail "the report ended"
done
eval "exec $to>&-"
wait "$program_id"
# It waits; it does not spin.
ticks() { echo $(($(cut -d ' ' -f 14,15 "/proc/$follower/stat" | tr ' ' +))); }
before=$(ticks)
read -rt 1 <> <(:)
after=$(ticks)
[ $((after - before)) -lt 30 ] || fail "it spins: $((after - before)) ticks in a second"
trcstop || fail "trcstop"
wait $follower || fail "the report of an ended session: $?"
cp "$work/followed" "$work/out"
lines 6
"$tracewell" report -h -t "$work/mine" -d 010 -O timestamp=3 >"$work/whole"
cmp "$work/followed" "$work/whole" || fail "what was followed is not the log"

# Of a session that has ended, all at once; ended by a signal.
expect 0 report --follow -m -h -t "$work/mine" -d 010 -O timestamp=3 "$work/log"
lines 6
trace -a || fail "trace"
: >"$work/followed"
"$tracewell" report --follow -t "$work/mine" >>"$work/followed" &
follower=$!
wait_for 'TRACE ON' "$work/followed"
kill -TERM $follower
wait $follower
[ $? = 143 ] || fail "it does not end by SIGTERM"
has 'DELTA_MSEC' followed
: >"$work/again"  # what stood in "followed" says nothing of this one
"$tracewell" report --follow -t "$work/mine" >>"$work/again" &
follower=$!
wait_for 'TRACE ON' "$work/again"
rm -rf "$work/log"
wait $follower || fail "a log that was removed: $?"
trcstop 2>/dev/null
expect 3 report --follow "$TRACEWELL_SOURCE/tests/cli/hooks.jsonl"
rm -rf "$work/log"

# A log of another user's, or of a session that was begun with another XDG_RUNTIME_DIR, with a
# collector and without.
theirs=(env XDG_RUNTIME_DIR="$work/theirs")
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
  theirs=(setpriv --reuid=65534 --clear-groups "${theirs[@]}")
fi
mkdir -m 700 "$work/theirs"
[ ${#theirs[@]} -gt 2 ] && chown 65534 "$work/theirs" && chmod 755 "$work"
for mode in '' -l; do
  log=$work/theirs/log
  # shellcheck disable=SC2086
  "${theirs[@]}" "$tracewell" trace -a $mode -o "$log" || fail 'trace of another'
  : >"$work/followed"
  "$tracewell" report --follow -t "$work/mine" "$log" >>"$work/followed" &
  follower=$!
  wait_for 'TRACE ON' "$work/followed"
  sleep 0.3
  [ -e "/proc/$follower" ] || fail "$mode: it does not wait for what comes"
  "${theirs[@]}" "$TRACEWELL_INFERIORS/hook_lives" clone >/dev/null
  "${theirs[@]}" "$tracewell" trcstop || fail 'trcstop of another'
  wait $follower || fail "$mode: it ends with $?"
  expect 0 report -t "$work/mine" "$log"
  # The clock is known better at the end.
  cut -c1-4 "$work/out" >"$work/ids"
  cut -c1-4 "$work/followed" | diff "$work/ids" - || fail "$mode: what is followed is another"
  rm -rf "$log"
done
finish
