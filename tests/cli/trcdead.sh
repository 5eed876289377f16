#!/usr/bin/env bash
# trcdead: rings that are left in a log whose session nobody can end; in single files; and in the
# core file of a program whose rings' files were gone.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log
cat >"$work/dies.c" <<'C'
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/trchkid.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  const struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY};
  int i;
  setrlimit(RLIMIT_CORE, &any);
  for (i = 0; i < 100; ++i) TRCHKL2(HKWD_USER1, i, 7);
  if (argc > 1 && system(argv[1]) != 0) return 1;
  for (i = 100; i < 150; ++i) TRCHKL2(HKWD_USER1, i, 7);
  kill(getpid(), SIGKILL);
}
C
cc -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/dies.c" -o "$work/dies" \
  -L"$TRACEWELL_BIN/../lib" -lrts -Wl,-rpath,"$TRACEWELL_BIN/../lib" || fail "dies.c"
numbers() {  # LOG COUNT: hooks 0, 1, … COUNT - 1 are in it
  "$tracewell" print "$1" --where 'kind == "hook"' --format jsonl >"$work/out" 2>"$work/err"
  python3 - "$work/out" "$2" <<'PY' || fail "hooks in $1"
import json, sys
hooks = [json.loads(line) for line in open(sys.argv[1])][1:]
assert [int(h["words"][0], 16) for h in hooks] == list(range(int(sys.argv[2]))), len(hooks)
PY
}

# A session that the machine's restart took the control file of.
trace -a -f -T 128k -o "$log"
"$work/dies" 2>/dev/null
expect 2 trcdead "$log"
has 'a trace runs into' err
rm -rf "$work/run/tracewell"
cp -r "$log" "$work/copy"
expect 2 trace -a -o "$log"
has 'trcdead' err
expect 0 trcdead "$log"
has ' of 1 ring'
[ -e "$log/.rings" ] && fail "rings are left"
numbers "$log" 150
# A ring with many names is one.
cp -r "$work/copy" "$work/names"
ring=$(ls "$work/names/.rings")
for i in $(seq 300); do ln "$work/names/.rings/$ring" "$work/names/.rings/$i-0"; done
expect 0 trcdead "$work/names"
has ' of 1 ring'
numbers "$work/names" 150
babeltrace2 "$log" >"$work/out" 2>"$work/err" || fail "babeltrace2"
[ -s "$work/err" ] && fail "babeltrace2 complains: $(head -3 "$work/err")"
expect 1 trcdead "$log"
has "there are no rings of trace hooks in $log" err

# One ring's file, into a log of its own; twice is once; not into another session's.
ring=$(echo "$work"/copy/.rings/*)
expect 0 trcdead -o "$work/one" "$ring"
numbers "$work/one" 150
expect 0 trcdead -o "$work/one" "$ring"
numbers "$work/one" 150
expect 0 print "$work/one"
has '1 ring collected by trcdead'
expect 1 trcdead -3 -o "$work/three" "$ring"
has "there are no rings of trace hooks of channel 3 in $ring" err
trace -a -f -o "$work/other" && trcstop
expect 2 trcdead -o "$work/other" "$ring"
has 'is the log of another session; -o LOG says where these rings go' err
# A rescue that could not write all of it is asked again.
(ulimit -f 20; "$tracewell" trcdead -o "$work/small" "$ring" >/dev/null 2>"$work/err") &&
  fail "it has written more than it may"
has 'File too large' err
expect 0 trcdead -o "$work/small" "$ring"
numbers "$work/small" 150
head -c 3000 "$ring" >"$work/short"
expect 0 trcdead -o "$work/cut" "$work/short"

# A core file, made while the program is at it: rings whose files are there, and are gone.
for gone in '' "rm -r '$work/core.log'; "; do
  rm -rf "$work/core.log" "$work/rescued"
  trace -a -f -T 128k -o "$work/core.log"
  gdb -q -nx -batch -ex 'handle SIGCHLD nostop noprint' -ex 'catch syscall kill' -ex run \
    -ex "generate-core-file $work/core" --args "$work/dies" "${gone:-:}" >"$work/gdb" 2>&1
  [ -s "$work/core" ] || fail "no core: $(tail -3 "$work/gdb")"
  rm -rf "$work/run/tracewell"
  expect 0 trcdead -o "$work/rescued" "$work/core"
  numbers "$work/rescued" 150
  # A log that is there takes what its own process had, and nothing that somebody else says it had.
  expect 0 trcdead -o "$work/rescued" "$work/core"
  if [ -n "$gone" ]; then
    python3 - "$work/core" "$work/of-others" <<'PY'
import re, struct, sys
core = bytearray(open(sys.argv[1], "rb").read())
names = list(re.finditer(rb"/\.rings/(\d+)-\d+ \(deleted\)\0", core))
assert names, "no mapping of a ring"
for name in names:
    core[slice(*name.span(1))] = str(int(name[1]) ^ 1).encode()
at = core.index(b"TwWhring")
while at >= 0:
    core[at + 24] ^= 1  # tracewell_ring::pid
    at = core.find(b"TwWhring", at + 1)
open(sys.argv[2], "wb").write(core)
PY
    expect 2 trcdead -o "$work/rescued" "$work/of-others"
    has 'is no core file of process' err
    expect 0 trcdead -o "$work/apart" "$work/of-others"
    rm -rf "$work/apart" "$work/of-others"
  fi
  if [ -n "$gone" ] && [ "$(id -u)" = 0 ]; then
    chown 65534 "$work/core"
    expect 2 trcdead -o "$work/rescued" "$work/core"
    has 'belongs to' err
    expect 0 trcdead -o "$work/apart" "$work/core"
    numbers "$work/apart" 150
    rm -rf "$work/apart"
    chown 0 "$work/core"
  fi
  numbers "$work/rescued" 150
  # Cut anywhere: what is there, or why there is nothing.
  whole=$(stat -c %s "$work/core")
  for size in 0 1 63 64 200 4096 $((whole / 4)) $((whole / 2)) $((whole - 70000)); do
    rm -rf "$work/rescued"
    head -c "$size" "$work/core" >"$work/cut-core"
    "$tracewell" trcdead -o "$work/rescued" "$work/cut-core" >"$work/out" 2>"$work/err"
    case $? in
      0) "$tracewell" print "$work/rescued" >/dev/null 2>&1 || fail "a log of $size bytes" ;;
      1 | 3) [ -e "$work/rescued" ] && fail "nothing was found, and a log was made" ;;
      *) fail "a core file cut to $size bytes: $(head -2 "$work/err")" ;;
    esac
  done
  # What stands at its end says nothing of memory.
  rm -rf "$work/rescued"
  head -c "$((whole - 1))" "$work/core" >"$work/cut-core"
  expect 0 trcdead -o "$work/rescued" "$work/cut-core"
  numbers "$work/rescued" 150
  rm -f "$work/core"
done

# A thread that has made no hook since keeps the ring of a trace that has ended: it is told, and
# the rings of the trace that runs are taken.
cat >"$work/two.c" <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/trchkid.h>
#include <unistd.h>
static void *fire(void *unused)
{
  int i;
  for (i = 0; i < 30; ++i) TRCHKL2(HKWD_USER1, i, 7);
  return unused;
}
int main(int argc, char **argv)
{
  pthread_t thread;
  TRCHKL2(HKWD_USER1, argc + 1000, 7);
  if (system(argv[1]) != 0 || pthread_create(&thread, NULL, fire, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  kill(getpid(), SIGKILL);
}
C
cc -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/two.c" -o "$work/two" \
  -L"$TRACEWELL_BIN/../lib" -lrts -lpthread -Wl,-rpath,"$TRACEWELL_BIN/../lib" || fail "two.c"
rm -rf "$work/run/tracewell" "$work/rescued"
trace -a -f -T 128k -o "$work/first.log"
gdb -q -nx -batch -ex 'handle SIGCHLD nostop noprint' -ex 'catch syscall kill' -ex run \
  -ex "generate-core-file $work/core" \
  --args "$work/two" "trcstop && trace -a -f -T 128k -o '$work/second.log'" >"$work/gdb" 2>&1
[ -s "$work/core" ] || fail "no core: $(tail -3 "$work/gdb")"
rm -rf "$work/run/tracewell"
first=$(grep -o 'uuid = "[^"]*' "$work/first.log/metadata" | cut -d'"' -f2)
expect 0 trcdead -o "$work/rescued" "$work/core"
has "has ended, and $work/first.log has what was in it: it is left out (--from $first takes it)" err
has ' of 1 ring'
numbers "$work/rescued" 30
for from in "$work/second.log" "$(grep -o 'uuid = "[^"]*' "$work/second.log/metadata" |
  cut -d'"' -f2)"; do
  rm -rf "$work/rescued"
  expect 0 trcdead --from "$from" -o "$work/rescued" "$work/core"
  numbers "$work/rescued" 30
done
rm -rf "$work/rescued"
(cd "$work" && "$tracewell" trcdead --from first.log -o rescued core) >"$work/out" 2>"$work/err" ||
  fail "--from first.log: $(cat "$work/err")"
has "the trace of $work/first.log/.rings/" err
has ' of 1 ring'
expect 1 trcdead --from "$work/none.log" -o "$work/rescued" "$work/core"
has "there are no rings of trace hooks of $work/none.log in $work/core" err

# A core file is read for whoever owns it: it may name the rings of others.
if [ "$(id -u)" = 0 ]; then
  ring=$work/named/.rings/99999-0
  mkdir -p "$(dirname "$ring")"
  for late in '' late; do
    python3 "$TRACEWELL_SOURCE/tests/cli/core_files.py" "$work/core" memory 99999 \
      "$ring 11111111-1111-1111-1111-111111111111 99999 0 7 $late" || fail 'no core file'
    [ -n "$late" ] && continue
    python3 - "$work/core" "$ring" <<'PY'
import sys
core = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(core[core.index(b"TwWhring"):])
PY
  done
  rm -rf "$work/rescued"
  chown 65534 "$work/core"
  expect 1 trcdead -o "$work/rescued" "$work/core"
  has "$ring belongs to user root, and the core file to user" err
  chown 65533 "$ring"
  expect 1 trcdead -o "$work/rescued" "$work/core"
  has "$ring belongs to" err
  chown 0 "$work/core"
  expect 0 trcdead -o "$work/rescued" "$work/core"
  has "and the core file to user root" err
  rm -rf "$work/rescued"
  chown 65533 "$work/core"
  expect 0 trcdead -o "$work/rescued" "$work/core"
  grep -q 'and the core file to' "$work/err" && fail "one who owns both: $(cat "$work/err")"
fi

expect 3 trcdead "$work/dies.c"
has 'is no log of trace hooks, no ring of theirs, and no core file' err
expect 3 trcdead "$work/dies"
expect 4 trcdead "$work/none"

# A program that still writes to its ring, and one that has ended.
mkfifo "$work/fifo"
trace -a -f -o "$work/live"
kill_collector  # or it takes the ring of who has ended
"$work/dies" 2>/dev/null
"$work/dies" "cat '$work/fifo'" >/dev/null 2>&1 &
# What makes the file a ring is written last.
until [ "$(grep -rla TwWhring "$work/live/.rings" | wc -l)" = 2 ]; do sleep 0.01; done
rm -rf "$work/run/tracewell"
expect 2 trcdead "$work/live"
has 'still writes to' err
# Nor is its ring collected, and removed, with another one of its session.
dead=$(cd "$work/live/.rings" && grep -la TwWhring ./* | while read -r one; do
  kill -0 "$(basename "${one%%-*}")" 2>/dev/null || echo "$one"; done)
expect 2 trcdead "$work/live/.rings/${dead#./}"
has 'still writes to' err
echo >"$work/fifo"
wait
expect 0 trcdead "$work/live"
has ' of 2 rings'
finish
