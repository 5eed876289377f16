#!/usr/bin/env bash
# Commands that wait for a lock beside a file, or read several files one by one: folders that others
# move, and names that they exchange meanwhile, lead them nowhere else.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
tell() { printf '%s\n' "$1" >"$work/go"; }

# Holds FILE's lock until "$work/go" has a line.
hold_lock() {  # FILE
  rm -f "$work/go" "$work/held"
  mkfifo "$work/go"
  python3 - "$1" "$work" <<'PYTHON' &
import fcntl, os, sys
lock, work = sys.argv[1:]
with open(os.open(lock, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    open(work + "/held", "w").close()
    open(work + "/go").readline()
PYTHON
  holder=$!
  for _ in $(seq 1000); do [ -e "$work/held" ] && break; sleep 0.01; done
}
# The command has that file open, or has looked for it.
await_open() {  # PID PATH
  for _ in $(seq 2000); do
    [ -n "$(find "/proc/$1/fd" -lname "$2" 2>/dev/null)" ] && return
    sleep 0.01
  done
  fail "$2 was not opened"
}

# Notes: of the trace that was named.
python3 "$TRACEWELL_SOURCE/examples/travel/squares.py" >"$work/steps.jsonl" || fail 'no trace'
mkdir "$work/private" "$work/d"
for folder in private d; do
  cp "$work/steps.jsonl" "$work/$folder/t.jsonl"
  expect 0 note "$work/$folder/t.jsonl" 3 "of $folder"
done
hold_lock "$work/d/t.jsonl.notes.lock"
"$tracewell" note --clear "$work/d/t.jsonl" 2>"$work/err" &
clears=$!
await_open $clears "$work/d/t.jsonl.notes.lock"
mv "$work/d" "$work/d2"
mv "$work/private" "$work/d"
tell x
wait $holder
wait $clears && fail 'the notes of a trace that has another name by now are cleared'
has 'is another file by now than the one that was opened' err
has 'of private' d/t.jsonl.notes
has 'of d' d2/t.jsonl.notes
[ -e "$work/d/t.jsonl.notes.lock" ] && fail 'a lock in another folder'

# Defaults: what was named is changed, wherever its folder is by now.
mkdir "$work/one" "$work/two"
echo 'buffer = 1m' >"$work/two/trace.conf"
hold_lock "$work/one/trace.conf.lock"
TRACEWELL_DEFAULTS=$work/one/trace.conf "$tracewell" trcctl -T 2m 2>"$work/err" &
changes=$!
await_open $changes "$work/one/trace.conf.lock"
mv "$work/one" "$work/one2"
mv "$work/two" "$work/one"
tell x
wait $holder
wait $changes || fail "trcctl: $(cat "$work/err")"
[ "$(cat "$work/one/trace.conf")" = 'buffer = 1m' ] || fail 'the defaults in another folder'
[ -s "$work/one2/trace.conf" ] || fail 'the defaults that were named are as before'

# Logs that `report -l` found in a folder are opened there as what they were found to be.
cat >"$work/fires.c" <<'C'
#include <sys/ras_trace.h>
#include <sys/trchkid.h>
int main(void) {
  ras_block_t one = tracewell_component_register("one", 0, 0);
  ras_block_t two = tracewell_component_register("two", 0, 0);
  for (unsigned long i = 0; i < 40000; ++i) CT_HOOK2(one, 1, MT_PRIV, HKWD_USER1, i, 7);
  CT_HOOK2(two, 1, MT_PRIV, HKWD_USER2, 1, 7);
  return 0;
}
C
gcc -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$TRACEWELL_BIN/../lib" -lrts -Wl,-rpath,"$TRACEWELL_BIN/../lib" || fail 'fires.c'
export TRACEWELL_COMPONENTS=$work/rules
expect 0 ctctrl -p -c all memtraceon memtracelevel=9 memtracebufsize=16m
"$work/fires" || fail 'fires'
expect 0 ctctrl -D -c all -d "$work/dumps"
expect 0 ctctrl --forget
mkfifo "$work/report"
timeout 60 "$tracewell" report -l "all:$work/dumps" >"$work/report" 2>"$work/err" &
reports=$!
exec 3<"$work/report"
head -c 1 <&3 >/dev/null # it is in the middle of the first log, which is larger than the pipe
mv "$work/dumps/two" "$work/two"
mkfifo "$work/dumps/two"
cat <&3 >"$work/out"
exec 3<&-
wait $reports
ended=$?
[ $ended = 1 ] || fail "report: status $ended: $(cat "$work/err")"
has "$work/dumps/two: cannot open two: it is no folder" err
[ "$(wc -l <"$work/out")" -ge 40000 ] || fail "the first log: $(wc -l <"$work/out") lines"
expect 2 report --follow -l "all:$work/dumps"
has 'does not grow' err
finish
