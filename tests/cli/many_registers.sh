#!/usr/bin/env bash
# As many registers as a trace may have, with long names that begin alike: what looks for each of
# them by name takes a second, and not minutes.
# timeout: 400
# labels: timing
. "$(dirname "$0")/common.sh"
trace() {  # FILE REGISTERS NAME-BYTES STEPS LOST
  python3 - "$@" <<'PYTHON'
import sys
path, registers, size, steps, lost = sys.argv[1], *map(int, sys.argv[2:])
names = [f"{i:0{size}d}" for i in range(registers)]
with open(path, "w") as out:
    out.write('{"catalog":{"machine":"x86-64","registers":[{"name":"rip","size":8},' + ",".join(
        f'{{"name":"{name}","size":1}}' for name in names) + "]}}\n")
    for k in range(steps):
        if lost and k % 10 == 9:
            out.write(f'{{"kind":"lost","count":{lost}}}\n')
        out.write(f'{{"kind":"step","tid":1,"pc":"{0x1000 + k % 100:#x}",'
                  f'"before":{{"{names[k % registers]}":1}},'
                  f'"registers":{{"{names[-1 - k % registers]}":{k % 200}}}}}\n')
PYTHON
}
soon() {  # STATUS ARGS...: in a minute at most
  local wanted=$1
  shift
  timeout 60 "$tracewell" "$@" >"$work/out" 2>"$work/err" </dev/null
  local got=$?
  [ "$got" = "$wanted" ] || {
    fail "tracewell $*: exit status $got, not $wanted (124: it took a minute)"
    head -c 500 "$work/err"
  }
}
trace "$work/names.jsonl" 65000 300 3 0
soon 0 at "$work/names.jsonl" 2
has 'step 2  pc 0x1002'
soon 0 at --json "$work/names.jsonl" 2
[ "$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["registers"]))' \
  "$work/out")" = 65001 ] || fail "at --json tells other registers"
soon 0 convert --format tfile "$work/names.jsonl" "$work/names.tf"

# Behind each hole, the registers of both runs are compared.
trace "$work/a.jsonl" 65000 5 8000 3
trace "$work/b.jsonl" 65000 5 8000 4
soon 1 diff "$work/a.jsonl" "$work/b.jsonl"
has 'steps are missing'
finish
