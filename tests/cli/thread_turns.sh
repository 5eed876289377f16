#!/usr/bin/env bash
# labels: timing
# An index of a trace whose many threads take turns costs what their steps tell, and what the
# registers that there are cost once; not their product. Only the processor's time counts.
. "$(dirname "$0")/common.sh"
trace() {  # FILE REGISTERS STEPS
  awk -v registers="$2" -v steps="$3" 'BEGIN {
    printf "{\"catalog\":{\"machine\":\"x86-64\",\"registers\":["
    for (i = 0; i < registers; ++i) printf "%s{\"name\":\"r%d\",\"size\":8}", i ? "," : "", i
    print "]}}"
    for (i = 0; i < steps; ++i)
      printf "{\"kind\":\"step\",\"tid\":%d,\"pc\":\"0x1\",\"before\":{\"r%d\":\"0x%x\"}}\n",
             i % 3000 + 1, registers - 1, int(i / 9000) }' >"$1"
}
seconds() {  # FILE
  python3 - "$tracewell" at "$1" 0 <<'PYTHON'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
PYTHON
}
trace "$work/both.jsonl" 16000 80000
trace "$work/registers.jsonl" 16000 1
trace "$work/steps.jsonl" 1 80000
for one in both registers steps; do
  printf -v "$one" %s "$(seconds "$work/$one.jsonl")" || fail "at $one"
done
echo "$both s, $registers s of registers, $steps s of steps"
python3 -c "import sys; sys.exit($both > 2 * ($registers + $steps))" ||
  fail "$both s of both, $registers s of registers and $steps s of steps"
# A register that each thread finds changed, here, is one for each thread and value.
expect 0 find "$work/both.jsonl" reg r15999
lines 24000
finish
