#!/usr/bin/env bash
# Control of tracing from a program (sys/trcctl.h): quoted words, what is discarded; and what trace
# refuses before anything is recorded or gone.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log

cat >"$work/control.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/trcctl.h>
#include <sys/trchkid.h>
/* ARGUMENTS FLAGS: three hooks in a trace that is stopped with the flags. */
int main(int argc, char **argv)
{
  int flags = (int)strtol(argv[argc - 1], 0, 16);
  int channel = trcstart(argv[1]);
  if (channel < 0) return 10;
  TRCHKL1(HKWD_USER1, 1);
  TRCHKL1(HKWD_USER1, 2);
  TRCHKL1(HKWD_USER2, 3);
  if (flags & 1) return channel;
  if (trcstop(channel | TRCSTOP_SERIAL | TRCSTOP_DISCARDBUFS) != -1) return 11;
  if (trcstop(channel | flags) != 0) return 12;
  return trcstop(channel | flags) == -1 ? 0 : 13;
}
C
cc -Wall -Wextra -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/control.c" -o "$work/control" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail "control.c does not build"
control() {  # STATUS ARGUMENTS FLAGS
  "$work/control" "$2" "$3" 2>"$work/err"
  local got=$?
  [ "$got" = "$1" ] || fail "trcstart('$2'), $3: $got, not $1"
}
hooks() {  # COUNT
  expect "$([ "$1" = 0 ] && echo 1 || echo 0)" print --where 'kind == "hook"' "$log"
  lines "$1"
}

# The log is complete when trcstop returns, said or not.
control 0 "-o $log" 0
hooks 3
control 0 "-l -o $log" 40000000
hooks 3
# Of buffers that are kept until the end nothing is left; what was written is in the log.
for how in -l -f; do
  control 0 "$how -o $log" 20000000
  expect 0 print "$log" --format jsonl
  grep -q '"kind":"hook"' "$work/out" && fail "$how: hooks that were discarded"
  has 'TRACE OFF channel 0, 3 records discarded'
  expect 0 report "$log"
  has 'records discarded'
  [ -e "$log/.rings" ] && fail "rings are left"
done
trace -al -o "$log" || fail "trace -al"
trcstop --discard || fail "trcstop --discard"
expect 0 print "$log"
has 'TRACE OFF channel 0, 0 records discarded'

# Words as a shell's.
spaced="$work/a log"
control 0 "-j 010 -m 'it'\\''s \"two\" words' -o \"$spaced\"" 0
expect 0 print --where 'kind == "hook"' "$spaced"
lines 2
expect 0 report "$spaced"
has "Message: it's \"two\" words"
control 0 $'\t'"-j  \"010,020\"  -m \"a \\\"b\\\" \\\\c\" -o $work/a\\ log " 0
expect 0 print --where 'kind == "hook"' "$spaced"
lines 3
expect 0 report "$spaced"
has 'Message: a "b" \c'
control 0 "-m '' -o $log" 0
control 10 "-m 'no end -o $log" 0
control 10 "-m \"no end -o $log" 0
control 10 '-j ""' 0

# No thread made a mark.
control 0 "-o $log" 0
expect 0 report -h -O tid=on "$log"
[ "$(grep -c -E '^00[12] +- ' "$work/out")" = 2 ] || fail "threads of marks: $(cat "$work/out")"
[ "$(grep -c -E '^0[12]0 +[1-9]' "$work/out")" = 3 ] || fail "threads of hooks"

# What is given, and says nothing, is not the same as not given.
for option in -C -j -k -J -K -A -t -L -T -e -o -x -X; do
  for value in '' ' ' ,; do
    trace -a "$option" "$value" -o "$log" 2>"$work/err" && fail "trace $option '$value'"
    has "$option: is given, and nothing stands behind it" err
  done
done

# What is no part of a log does not stop its removal half-way.
cp -r "$log" "$work/copy"
for folder in .lock notes .rings/mine; do
  mkdir -p "$log/$folder"
  cp -r "$log" "$work/with"
  for keep in '' -c; do
    [ "$keep" = -c ] && mv "$log" "$log.old" && cp -r "$work/copy" "$log"
    # shellcheck disable=SC2086
    trace -a $keep -o "$log" 2>"$work/err" && fail "$folder in a log"
    [ "$folder" = .rings/mine ] || has "/$folder is a folder, and no part of the log" err
    [ "$keep" = -c ] && rm -r "$log" && mv "$log.old" "$log"
    diff -r "$log" "$work/with" || fail "$folder: the old log is not as it was"
  done
  rm -r "${log:?}/${folder%%/*}" "$work/with"
done
trace -a -o "$log" || fail "trace into the log that was freed of folders"
trcstop || fail "trcstop"

finish
