#!/usr/bin/env bash
# The times of trace hooks are those that babeltrace2 tells, to the nanosecond, whatever the clock
# of the log is.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log
cat >"$work/fire.c" <<'C'
#include <sys/trchkid.h>
int main(void)
{
  unsigned long i;
  for (i = 0; i < 2000; ++i) TRCHKL1(HKWD_USER1, i);
  return 0;
}
C
cc -O2 -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fire.c" -o "$work/fire" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail "fire.c does not build"
trace -a -o "$log" && "$work/fire" && trcstop || fail "no log"
cp "$log/metadata" "$work/metadata"
# FREQUENCY OFFSET_S OFFSET; the last counter has passed 2^53 ns long ago.
while read -r frequency seconds ticks; do
  if [ -n "$frequency" ]; then
    sed -e "s/^  freq = .*/  freq = $frequency;/" -e "s/^  offset_s = .*/  offset_s = $seconds;/" \
      -e "s/^  offset = .*/  offset = $ticks;/" "$work/metadata" >"$log/metadata"
  fi
  expect 0 print "$log" --format jsonl
  babeltrace2 --clock-seconds --no-delta "$log" >"$work/theirs" 2>"$work/err" || fail babeltrace2
  python3 - "$work/out" "$work/theirs" <<'P' || fail "times with '$frequency $seconds $ticks'"
import json, re, sys
ours = [json.loads(line).get("time_ns") for line in open(sys.argv[1])][1:]
theirs = [int(seconds) * 10**9 + int(nanoseconds) for seconds, nanoseconds in
          (re.match(r"\[(\d+)\.(\d{9})\]", line).groups() for line in open(sys.argv[2]))]
assert len(ours) >= 2003, len(ours)
differ = [(a, b) for a, b in zip(ours, theirs) if a != b]
assert len(ours) == len(theirs) and not differ, (len(ours), len(theirs), len(differ), differ[:2])
P
done <<'CLOCKS'

2000000015 1700000000 1918383731
2899999123 1700000000 952158461
1000000000 1700000000 126614242
999999999999 1700000000 714992848993
3579545 5 2547779
CLOCKS
finish
