#!/usr/bin/env bash
# labels: timing
# What a step of many short sessions is asked for its values is asked of its own session: four times
# as many take four times as long, and not sixteen times. Nor are all sessions looked through for
# each place that was executed or held some bytes, nor all accesses for each time that it held them.
# Only the processor's time counts.
. "$(dirname "$0")/common.sh"
trace() {  # FILE SESSIONS
  awk -v sessions="$2" 'BEGIN {
    print "{\"catalog\":{\"machine\":\"x86-64\"}}"
    for (i = 0; i < sessions; ++i) {
      print "{\"kind\":\"mark\",\"session\":true}"
      for (value = 1; value <= 2; ++value)
        printf "{\"kind\":\"step\",\"tid\":%d,\"pc\":\"0x1\",\"before\":{\"rax\":\"0x%d\"}}\n",
               i % 3 * (i + 1) + 1, value
    } }' >"$1"
}
places() {  # FILE SESSIONS: each somewhere else
  awk -v sessions="$2" 'BEGIN {
    print "{\"catalog\":{\"machine\":\"x86-64\"}}"
    for (i = 0; i < sessions; ++i) {
      print "{\"kind\":\"mark\",\"session\":true}"
      printf "{\"kind\":\"step\",\"tid\":1,\"pc\":\"0x%x\",\"opcode\":\"f4\"}\n", 4096 + i
    } }' >"$1"
}
cells() {  # FILE SESSIONS: each finds a byte somewhere else
  awk -v sessions="$2" 'BEGIN {
    print "{\"catalog\":{\"machine\":\"x86-64\"}}"
    for (i = 0; i < sessions; ++i) {
      print "{\"kind\":\"mark\",\"session\":true}"
      printf "{\"kind\":\"step\",\"tid\":1,\"pc\":\"0x1\",\"memory\":[{\"addr\":\"0x%x\"," \
             "\"access\":\"read\",\"old\":\"41\"}]}\n", 4096 + 8 * i
    } }' >"$1"
}
values() {  # FILE STEPS: each finds a byte otherwise, and writes one beside it
  awk -v steps="$2" 'BEGIN {
    print "{\"catalog\":{\"machine\":\"x86-64\"}}"
    for (i = 0; i < steps; ++i)
      printf "{\"kind\":\"step\",\"tid\":1,\"pc\":\"0x%x\",\"opcode\":\"90\",\"memory\":[" \
             "{\"addr\":\"0x7000\",\"access\":\"read\",\"old\":\"%d\"}," \
             "{\"addr\":\"0x7007\",\"access\":\"write\",\"new\":\"%d\"}," \
             "{\"addr\":\"0x10000\",\"access\":\"read\",\"size\":100000}]}\n",
             4096 + i, 41 + i % 2, 41 + i % 2
    }' >"$1"
}
seconds() {  # LINES ARGS...
  python3 - "$tracewell" "$@" <<'PYTHON'
import resource, subprocess, sys
hits, command = int(sys.argv[2]), sys.argv[1:2] + sys.argv[3:]
found = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
if found.count(b"\n") != hits:
    sys.exit(f"{command}: {found.count(10)} hits, not {hits}")
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
PYTHON
}
few=4000
compare() {  # TRACE COMMAND ARGS...: a line for each session, or step
  local kind=$1 command=$2 short long
  shift 2
  short=$(seconds $few "$command" "$work/$kind.few.jsonl" "$@") || fail "$command $*"
  long=$(seconds $((4 * few)) "$command" "$work/$kind.many.jsonl" "$@") || fail "$command $*"
  echo "$kind, $command $*: $short s, $long s"
  python3 -c "import sys; sys.exit($long > 8 * $short)" ||
    fail "$command $*: $short s of $few in $kind, $long s of four times as many"
}
for kind in trace places cells values; do
  $kind "$work/$kind.few.jsonl" $few
  $kind "$work/$kind.many.jsonl" $((4 * few))
done
for what in 'value 1' 'value 2' 'reg rax' 'reg al'; do
  compare trace find $what
done
compare places hits
compare places hits --blocks
compare cells find bytes 41
compare values find bytes 41
finish
