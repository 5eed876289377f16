#!/usr/bin/env bash
# What a trace cannot see, and logs that it cannot have: programs with another librts, or whose
# control file was removed; a log that goes meanwhile; two traces into one.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log

# Says that it runs, and ends with its input.
cat >"$work/waits.c" <<'C'
#include <stdio.h>
#include <sys/trchkid.h>
int main(void)
{
  TRCHKL1(HKWD_USER1, 1);
  puts("runs");
  fflush(stdout);
  return getchar() == EOF ? 0 : 1;
}
C
cc -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/waits.c" -o "$work/waits" \
  -L"$TRACEWELL_BIN/../lib" -lrts -Wl,-rpath,"$TRACEWELL_BIN/../lib" || fail "waits does not build"
# The same with a librts of another layout.
mkdir "$work/other"
cp -r "$TRACEWELL_SOURCE/include" "$TRACEWELL_SOURCE/src/inproc" "$work/other"
sed -i '/define TRACEWELL_CONTROL_NAME/s/".*"/"hooks-1"/' \
  "$work/other/include/tracewell/hook_layout.h"
cc -std=gnu11 -D_GNU_SOURCE -O2 -I"$work/other/include/tracewell/aix" -I"$work/other/include" \
  -I"$work/other" "$work/waits.c" "$work"/other/inproc/*.c -o "$work/older" ||
  fail "older does not build"

begin() {  # PROGRAM: returns when it runs
  coproc program { exec "$1"; }
  pid=$program_PID
  read -r _ <&"${program[0]}"
}
end() {
  eval "exec ${program[1]}>&-"
  wait "$pid"
}

begin "$work/waits"
trace -a -o "$log" 2>"$work/err" || fail "trace"
[ -s "$work/err" ] && fail "a program that is seen: $(cat "$work/err")"
trcstop
end

begin "$work/older"
trace -a -o "$log" 2>"$work/err" || fail "trace beside older"
has "$work/older (process $pid) is not traced: its librts is of another version (hooks-1, " err
has 'Start it with the librts of this tracewell' err
trcstop 2>"$work/err" || fail "trcstop beside older"
has "$work/older (process $pid) is not traced" err
# The trace ends first: also when nobody can be told.
trace -a -o "$log" 2>"$work/err" || fail "trace beside older"
python3 - "$tracewell" <<'PY'
import os, subprocess, sys
read, write = os.pipe()
os.close(read)
subprocess.call([sys.argv[1], "trcstop"], stderr=write)
PY
trcstop 2>"$work/err" && fail "the trace runs when trcstop cannot tell"
has 'no trace runs' err
end
trace -a -o "$log" 2>"$work/err" && trcstop
[ -s "$work/err" ] && fail "who has ended is told"

begin "$work/waits"
rm -r "$work/run/tracewell"
trace -a -o "$log" 2>"$work/err" || fail "trace with another control file"
has "$work/waits (process $pid) is not traced: the file hooks-" err
has 'was removed. Start it anew' err
trcstop 2>/dev/null
end

# A file whose folder has a name that only ends like that of control files.
mkdir -p "$work/mine$work/run/tracewell"
python3 - "$work/mine$work/run/tracewell/hooks-9" <<'PY' >"$work/said" &
import mmap, signal, sys
file = open(sys.argv[1], "w+b")
file.truncate(4096)
memory = mmap.mmap(file.fileno(), 4096)
print("mapped", flush=True)
signal.pause()
PY
pid=$!
wait_until "nothing is mapped" grep -q mapped "$work/said"
trace -a -o "$log" 2>"$work/err" || fail "trace beside a file of the user's"
trcstop 2>>"$work/err" || fail trcstop
[ -s "$work/err" ] && fail "a file of the user's: $(cat "$work/err")"
kill "$pid"
wait "$pid" 2>/dev/null

# The log goes while it is written: each command says so, and the trace ends.
for way in -a -al -af; do
  trace "$way" -o "$log" || fail "trace $way"
  "$work/waits" </dev/null >/dev/null
  rm -r "$log"
  trcoff 2>"$work/err" && fail "trcoff without a log"
  has "$log was removed while the trace ran into it" err
  has 'It is off now' err
  trcon 2>"$work/err" && fail "trcon without a log"
  has 'trcstop ends it' err
  trcstop 2>"$work/err" && fail "trcstop without a log"
  has "$log was removed while the trace ran into it; the hooks that were there are gone. The " err
  has 'The trace has ended' err
  trcstop 2>"$work/err" && fail "it did not end"
  has 'no trace runs' err
done

# Two traces into one log, by whatever name; the first one goes on.
ln -s "$work" "$work/link"
trace -a -o "$log" || fail "trace"
for name in "$log" "$work/./log/" "$work/link/log"; do
  trace -ag -o "$name" 2>"$work/err"
  [ $? = 2 ] || fail "two traces into $name"
  has 'is the log of the trace on channel 0' err
done
"$work/waits" </dev/null >/dev/null
trcstop || fail "trcstop of the first"
expect 0 print --where 'kind == "hook"' "$log"
lines 1

finish
