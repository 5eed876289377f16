#!/usr/bin/env bash
# labels: answers
# What options of trace do, seen in the log: -X and -x, -n, -s, -T; channels 1 to 7 beside each
# other; programs that are 32-bit and static.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log
headers=$TRACEWELL_SOURCE/include/tracewell/aix

cat >"$work/fire.c" <<'C'
#include <stdlib.h>
#include <string.h>
#include <sys/trchkid.h>
#include <unistd.h>
/* fire COUNT STATUS: so many hooks. fire full 0: as long as tracing is on. fire channels 0: one for
 * each channel, of its number. */
int main(int argc, char **argv)
{
  unsigned long i;
  if (argc != 3) return 9;
  if (strcmp(argv[1], "full") == 0) {
    alarm(60);
    for (i = 0; TRACEWELL_STATE(0) & TRACEWELL_STATE_ON; ++i) TRCHKL1(HKWD_USER1, i);
  } else if (strcmp(argv[1], "channels") == 0) {
    for (i = 0; i < 8; ++i) TRCGEN(i, HKWD_USER1, i, 3, (char *)"abc");
  } else {
    for (i = 0; i < strtoul(argv[1], 0, 0); ++i) TRCHKL1(HKWD_USER1, i);
  }
  return atoi(argv[2]);
}
C
cc -O2 -I"$headers" "$work/fire.c" -o "$work/fire" -L"$build/lib" -lrts \
  -Wl,-rpath,"$build/lib" || fail "fire.c does not build"
words() {  # LOG: first words of its hooks, in hexadecimal
  "$tracewell" print "$1" --where 'kind == "hook"' --format jsonl | python3 -c '
import json, sys
print(*(json.loads(line)["words"][0] for line in list(sys.stdin)[1:]))'
}
same() { [ "$1" = "$2" ] || fail "$3: '$1', not '$2'"; }

# -X goes on behind the command's end, -x does not; both have its exit status.
trace -X "$work/fire 2 7" -o "$log"
same $? 7 'the status of -X'
"$work/fire" 1 0
trcstop || fail "nothing runs behind -X"
same "$(words "$log")" '0x0 0x1 0x0' 'behind -X'
trace -x "$work/fire 2 7" -o "$log"
same $? 7 'the status of -x'
"$work/fire" 1 0
trcstop 2>/dev/null && fail "-x goes on"
same "$(words "$log")" '0x0 0x1' 'behind -x'

# -n: which system it was.
trace -a -n -o "$log" && trcstop
grep -qF "system = \"$(uname -s) $(uname -r) $(uname -v) $(uname -m)\";" "$log/metadata" ||
  fail "-n: $(grep system "$log/metadata")"
trace -a -o "$log" && trcstop
grep -q 'system = ' "$log/metadata" && fail "the system is noted without -n"

# -m: quotes and backslashes stay, in the command line too, and for other readers.
message='it'"'"'s a "b" \c; {d}'
trace -a -m "$message" -o "$log" && trcstop || fail "trace -m"
expect 0 report "$log"
has "Message: $message"
has "trace -a -m 'it'\\''s a \"b\" \\c; {d}' -o $log"
babeltrace2 -c sink.text.details "$log" >"$work/out" 2>"$work/err" || fail "babeltrace2"
has "message: $message"

# -s: the log has what is oldest, is no larger than it may be, and tracing is off.
trace -a -s -L 256k -T 64k -o "$log" || fail "trace -s"
"$work/fire" full 0 || fail "a trace that does not stop when its log is full"
"$work/fire" 5 0
trcstop || fail "trcstop behind -s"
expect 0 print "$log" --format jsonl
has 'TRACE OFF channel 0, the log is full'
has 'records lost: they came when the log was full'
grep -q WRAPAROUND "$work/out" && fail "-s: the oldest are said to be gone"
python3 - "$work/out" <<'PY' || fail "what a full log has"
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])][1:]
numbers = [int(e["words"][0], 16) for e in events if e["kind"] == "hook"]
lost = sum(e["count"] for e in events if e["kind"] == "lost")
assert numbers[0] == 0 and len(numbers) > 256 * 1024 / 20 / 2, (numbers[:1], len(numbers))
# Nothing is missing but what found no room in the buffer, and is counted.
gaps = numbers[-1] + 1 - len(numbers)
assert numbers == sorted(set(numbers)) and gaps <= lost, (gaps, lost)
PY
bytes=$(cat "$log"/[1-9]* | wc -c)
[ "$bytes" -le $((256 << 10)) ] || fail "$bytes bytes in a log of 256k"

# -L alone: it is told that buffers are made to fit; not where they fit.
trace -a -L 64k -o "$log" 2>"$work/err" && trcstop || fail "trace -L 64k"
has "a thread's buffer has 32k, not 2m, since two are to fit the log of 64k (-L); -L 4m" err
trace -af -L 64k -o "$log" 2>"$work/err" && trcstop || fail "trace -f -L 64k"
has "a thread's buffer has 64k, not 2m, since it is to fit the log of 64k (-L); -L 2m" err
trace -a -L 4m -o "$log" 2>"$work/err" && trcstop || fail "trace -L 4m"
[ -s "$work/err" ] && fail "trace -L 4m: $(cat "$work/err")"

# Sizes that no buffer has are refused.
refused() {  # TEXT OPTIONS…
  trace -a "${@:2}" -o "$work/none" 2>"$work/err" && fail "trace ${*:2}"
  has "$1" err
  [ -e "$work/none" ] && fail "trace ${*:2}: a log was made"
}
refused '-T: 1 is too small: 32k to 256m' -T 1
refused '-T: 31k is too small: 32k to 256m' -T 31k
refused '-T: 100g is too large: 32k to 256m' -T 100g
refused "-T: 'much' is no size" -T much
refused '-L: 63k is too small: 64k to' -L 63k -T 32k
refused '-L: 1 is too small: 32k to' -f -L 1
refused '-T: a buffer has at most half of the log' -T 64k -L 127k
trace -a -T 256m -o "$log" && trcstop || fail "trace -T 256m"
TRACEWELL_DEFAULTS=$work/conf
export TRACEWELL_DEFAULTS
echo 'buffer_bytes = 5' >"$TRACEWELL_DEFAULTS"
refused 'trcctl -T: 5 is too small: 32k to 256m'
unset TRACEWELL_DEFAULTS

# -T: so much of a thread's hooks, of 20 bytes each, is kept. A packet of the ring may be empty.
for size in 64 512; do
  trace -al -T ${size}k -o "$log" && "$work/fire" 100000 0 && trcstop || fail "trace -l -T"
  kept=$("$tracewell" print --where 'kind == "hook"' "$log" | wc -l)
  [ $((kept * 20)) -le $((size << 10)) ] &&
    [ $((kept * 20)) -ge $(((size << 10) * 3 / 4)) ] || fail "-T ${size}k keeps $kept hooks"
done

# What found no room is told by who ends the trace, be it the command itself.
expect_lost() {  # in err
  local lost
  lost=$("$tracewell" check "$log" | sed -n 's/.*; lost: //p')
  [ "${lost:-0}" -gt 1000 ] || fail "$lost hooks are lost"
  has "$lost hooks found no room (tracewell check $log says where); trace -T makes room" err
}
trace -af -T 32k -o "$log" && "$work/fire" 100000 0 || fail "trace -f -T 32k"
trcstop 2>"$work/err" || fail "trcstop"
expect_lost
trace -f -T 32k -o "$log" -x "$work/fire 100000 0" 2>"$work/err" || fail "trace -f -x"
expect_lost

# Channels 1 to 7 each have hooks of their own, and are stopped by themselves.
for channel in 1 2 3 4 5 6 7; do
  trace -ag -o "$log-$channel" >"$work/out"
  same $? $channel 'the status of trace -ag'
  same "$(cat "$work/out")" "channel $channel: $log-$channel" 'what trace -ag prints'
done
trace -ag -o "$log-8" >"$work/out" 2>"$work/err" && fail "an eighth channel"
has 'all channels from 1 to 7 are in use' err
same "$(cat "$work/out")" '' 'what is printed of a channel that there is not'
"$work/fire" channels 0
trcoff -5 && "$work/fire" channels 0 && trcon -5 || fail "trcoff -5"
for channel in 7 2 3 4 5 6 1; do
  trcstop -$channel || fail "trcstop -$channel"
  wanted="0x$channel 0x$channel"
  [ $channel = 5 ] && wanted=0x5
  same "$(words "$log-$channel")" "$wanted" "channel $channel"
done
trace -ag -o "$log-1" >"$work/out"
same $? 1 'a channel that is free again'
trcstop -1
# Status 2 is a channel's, or an error's: what is printed tells.
trace -ag -o "$log-1" >"$work/out" && fail "channel 1 is 0"
trace -ag -T 1 >"$work/out" 2>"$work/err"
same $? 2 'a wrong -T'
lines 0
TRACEWELL_LOG=$work/mine trace -ag >"$work/out"
same $? 2 'channel 2'
same "$(cat "$work/out")" "channel 2: $work/mine-2" 'the log of channel 2'
trcstop -1 && trcstop -2 || fail "trcstop -1, -2"
[ -f "$work/mine-2/metadata" ] || fail "no log $work/mine-2"

# 32-bit and static.
cc -m32 -static -O2 -I"$headers" "$work/fire.c" -o "$work/fire32" -L"$build/lib32" -lrts ||
  fail "fire.c does not build as a static 32-bit program"
file=$(od -An -tx1 -j4 -N1 "$work/fire32")
same "${file// /}" 01 'the class of a 32-bit program'
if runs_32_bit_programs; then
  trace -a -o "$log" && "$work/fire32" 3 0 && trcstop || fail "a static 32-bit program"
  same "$(words "$log")" '0x0 0x1 0x2' 'a static 32-bit program'
  expect 0 print --where 'kind == "hook"' "$log" --format jsonl
  same "$(grep -c '"env":32' "$work/out")" 3 'its hooks are of 32 bits'
fi

finish
