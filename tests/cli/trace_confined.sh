#!/usr/bin/env bash
# skips
# A program that restricts its own system calls may be killed for those of its first hook: no trace
# begins beside it unasked. One without the time stamp counter lives, and its hooks are counted.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
begin() {  # WORD: the program, until finished
  mkfifo "$work/in" "$work/said"
  "$TRACEWELL_INFERIORS/hook_confined" "$1" <"$work/in" >"$work/said" &
  program=$!
  exec 8>"$work/in" 9<"$work/said"
  read -r said <&9
  [ "$said" = ready ] || {
    echo "skipped: no $1 here"
    exit 0
  }
}
finished() {
  echo >&8
  wait $program || fail "the program ends with status $?"
  exec 8>&- 9<&-
  rm "$work/in" "$work/said"
}

begin filter
expect 3 trace -a -o "$work/log"
has "hook_confined (process $program) restricts its system calls (seccomp), and its filter may" err
has '--confined' err
[ ! -e "$work/log" ] || fail 'a log was begun'
expect 3 trace -o "$work/log" -x true
has '--confined' err
expect 0 trace --confined -a -o "$work/log"
finished
trcstop || fail trcstop
expect 0 print "$work/log"
has 'hook'
rm -rf "$work/log"

# Whether it has hooks, only who may read all memory can see.
weak=()
[ "$(id -u)" = 0 ] && weak=(setpriv --bounding-set -sys_ptrace,-sys_admin,-perfmon)
begin guarded
"${weak[@]}" "$tracewell" trace -a -o "$work/log" 2>"$work/err" && fail 'a trace begins beside it'
has "hook_confined (process $program) restricts its system calls (seccomp). It lets nobody see" err
[ ! -e "$work/log" ] || fail 'a log was begun'
"${weak[@]}" "$tracewell" trace --confined -a -o "$work/log" || fail 'trace --confined'
finished
trcstop || fail trcstop
expect 0 print "$work/log"
has 'hook'
rm -rf "$work/log"

begin ticks
expect 0 trace -a -o "$work/log"
finished
trcstop || fail trcstop
expect 0 info "$work/log"
has '1 (their threads could not make a ring)'
finish
