#!/usr/bin/env bash
# Commands that were started with descriptors 0, 1 or 2 closed: what they open must not be taken
# for standard input, output or error.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log

ways=('<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '<&- >&- 2>&-')
closed() {  # WAY COMMAND…
  local way=$1
  shift
  eval '"$@"' "$way"
}

cat >"$work/hooks.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <tracewell/aix/sys/trcctl.h>
#include <tracewell/aix/sys/trcmacros.h>
/* Hooks; within a session of its own, started with descriptors closed, when it gets a log. */
int main(int count, char** words) {
  char options[4096];
  int i, channel = 0, stopped = 0;
  if (count > 1) {
    for (i = 0; i < 3; ++i) close(i);
    snprintf(options, sizeof options, "-o %s", words[1]);
    channel = trcstart(options);
  }
  for (i = 0; i < 1000; ++i) TRCHKL1(0x12300000, i);
  if (count > 1) stopped = trcstop(channel);
  return channel == 0 && stopped == 0 ? 0 : 1;
}
C
cc -I"$TRACEWELL_SOURCE/include" "$work/hooks.c" -o "$work/hooks" -L"$build/lib" -lrts \
  -Wl,-rpath,"$build/lib" || fail "the program does not build"
all_hooks() {  # WHAT LOG
  expect 0 print "$2"
  [ "$(grep -c ' 1230\.0 ' "$work/out")" = 1000 ] || fail "$1: $(tail -2 "$work/out")"
}

"$work/hooks"  # makes the control file
control=$work/run/tracewell/hooks-2
cp "$control" "$work/control"
for way in "${ways[@]}"; do
  # Nothing runs, and an error is told.
  for command in trcon trcstop 'trcupdate -t x y'; do
    closed "$way" $command >"$work/out" 2>"$work/err" && fail "$command $way"
  done
  cmp "$control" "$work/control" || fail "$way: the control file has another text"
done

for way in "${ways[@]}"; do
  rm -rf "$log"
  closed "$way" trace -a -o "$log" || fail "trace $way"
  closed "$way" trace -a -o "$log" 2>/dev/null && fail "two on one channel: $way"
  "$work/hooks"
  closed "$way" trcstop || fail "trcstop $way"
  all_hooks "$way" "$log"
done
"$work/hooks" "$work/own" || fail "trcstart with nothing open"
all_hooks "trcstart with nothing open" "$work/own"

# What is written elsewhere is whole, warnings or not.
cat >"$work/run.jsonl" <<'LINES'
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"90","before":{"rax":1}}
{"kind":"step","tid":7,"pc":"0x1001",
{"kind":"step","tid":7,"pc":"0x1008","opcode":"90","before":{"rax":3}}
LINES
expect 0 convert "$work/run.jsonl" "$work/wanted.csv" --format csv
[ -s "$work/err" ] || fail "there is nothing to warn of"
for way in "${ways[@]}"; do
  rm -f "$work/got.csv"
  closed "$way" "$tracewell" convert "$work/run.jsonl" "$work/got.csv" --format csv ||
    fail "convert $way"
  cmp "$work/wanted.csv" "$work/got.csv" || fail "convert $way"
done

# What is to go to an output that is closed did not get there.
for command in "convert $work/run.jsonl - --format csv" "print $work/run.jsonl" --version; do
  "$tracewell" $command >&- 2>"$work/err" && fail "$command to a closed output"
  has 'cannot write standard output' err
done
for name in /dev/stdout /proc/self/fd/1; do
  "$tracewell" convert "$work/run.jsonl" "$name" --format csv >&- 2>"$work/err" &&
    fail "convert to $name, which is closed"
done
"$tracewell" print - <&- >"$work/out" 2>&1 && fail "read what is closed"

# A program that is run finds them as they were, and the connection is none of its streams.
for way in '>&-' '<&- >&- 2>&-'; do
  closed "$way" "$TRACEWELL_BIN/tracewell-gdbserver" --once "unix:$work/socket" \
    /bin/sh -c "ls -l /proc/self/fd >$work/open" 2>"$work/server" &
  wait_until "the server is there: $way" test -S "$work/socket"
  timeout 60 gdb -nx -batch -ex 'set sysroot /' -ex "target remote $work/socket" \
    -ex continue </dev/null >"$work/gdb" 2>&1 || fail "gdb: $(tail -3 "$work/gdb")"
  grep -q 'exited normally' "$work/gdb" || fail "gdb: $(tail -3 "$work/gdb")"
  wait $! || fail "the server $way"
  grep -q ' 2 -> /dev/null' "$work/open" && fail "$way: $(cat "$work/open")"
  rm -f "$work/socket"
done
finish
