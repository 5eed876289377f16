#!/usr/bin/env bash
# Processes and changes at the command line: who printed what, what fits --where, what is converted.
. "$(dirname "$0")/common.sh"
cat >"$work/two.jsonl" <<'END'
{"catalog":{"machine":"x86-64","processes":[{"pid":70,"image":"/bin/first"}]}}
{"kind":"hook","tid":7,"time_ns":1000,"process":1,"id":"0100","words":["0x1"]}
{"kind":"change","process":1,"change":"process-ended","time_ns":2000}
{"kind":"change","process":2,"change":"process-known","who":{"pid":70,"image":"/bin/second"}}
{"kind":"hook","tid":7,"time_ns":3000,"process":2,"id":"0100","words":["0x2"]}
{"kind":"change","tid":7,"time_ns":4000,"process":2,"change":"thread-named","name":"worker"}
{"kind":"hook","tid":7,"time_ns":5000,"process":2,"id":"0100","words":["0x3"]}
END

# What only makes known who a process is, is no line.
expect 0 print "$work/two.jsonl"
lines 5
has 'change 1  process 70 ended'
has 'change 2  thread 7 is named worker  thread 7 of process 70'
expect 0 info "$work/two.jsonl"
grep -q '^records *3$' "$work/out" || fail 'changes are no records'
# Who they are, and where they begin and end.
has 'processes  2'
has '1: pid 70, /bin/first, ended before event 1 (0.000002000 s)'
has '2: pid 70, /bin/second'
who='"pid":7,"start_ns":1234567890000,"host":"here"'
cat >"$work/one.jsonl" <<END
{"catalog":{"machine":"x86-64"}}
{"kind":"change","process":1,"change":"process-began","time_ns":900,"who":{$who,"image":"/bin/a"}}
{"kind":"hook","process":1,"id":"0100"}
{"kind":"change","process":1,"change":"process-runs","who":{$who,"parent":2,"image":"/bin/b"}}
END
expect 0 info "$work/one.jsonl"
has 'process    pid 7, /bin/b, started 1234.56 s after here was booted, began before event 0 (0.00'
expect 0 info --json "$work/one.jsonl"
python3 - "$work/out" <<'END' || fail 'info --json of a process'
import json, sys
info = json.load(open(sys.argv[1]))
assert info["processes"] == [{
    "process": 1, "pid": 7, "start_ns": 1234567890000, "parent": 2, "host": "here",
    "image": "/bin/b", "began_before": 0, "began_ns": 900}], info["processes"]
assert info["process_count"] == 1
END
expect 0 info --json "$work/two.jsonl"
has '"ended_before": 1'
has '"ended_ns": 2000'
# Of thousands people see the first, and scripts as many as are known whole.
python3 - "$work/many.jsonl" <<'END'
import json, sys
with open(sys.argv[1], "w") as out:
    print('{"catalog":{"machine":"x86-64"}}', file=out)
    for number in range(1, 70001):
        print(json.dumps({"kind": "change", "process": number, "change": "process-known",
                          "who": {"pid": number + 9}}), file=out)
END
expect 0 info "$work/many.jsonl"
has 'processes  70000'
has '20: pid 29'
has '… (--json has more)'
[ "$(wc -l <"$work/out")" -lt 40 ] || fail 'too much of processes'
expect 0 info --json "$work/many.jsonl"
python3 - "$work/out" <<'END' || fail 'info --json of many processes'
import json, sys
info = json.load(open(sys.argv[1]))
assert info["process_count"] == 70000 and len(info["processes"]) == 65536
assert info["processes"][-1] == {"process": 65536, "pid": 65545}
END
head -100 "$work/many.jsonl" >"$work/some.jsonl"
expect 0 info "$work/some.jsonl"
has '… (--json has them all)'
# Of a file that says it without being read to its end, and of nobody.
expect 0 info "$TRACEWELL_SOURCE/tests/formats/tracebuffer/compact-process/input.twb"
has 'process    pid 77, /bin/prog, started 1234.56 s after host was booted'
expect 0 info "$TRACEWELL_SOURCE/tests/formats/tracebuffer/compact/input.twb"
grep -q '^process' "$work/out" && fail 'a process of nobody'
expect 0 check "$work/two.jsonl"
has '3 events'

# The thread, and the pid, had another program before.
expect 0 report -O exec=on,pid=on "$work/two.jsonl"
grep -E 'hookdata|MARK' "$work/out" >/dev/null || fail 'no report'
expect 0 report --format jsonl "$work/two.jsonl"
lines 5
[ "$(grep -c '"process":"/bin/first"' "$work/out")" = 2 ] || fail 'the first program'
[ "$(grep -c '"process":"/bin/second"' "$work/out")" = 3 ] || fail 'the second program'

expect 0 print --where 'pid == 70 && kind == "hook"' "$work/two.jsonl"
lines 3
expect 0 print --where 'process == 2 && kind == "hook"' "$work/two.jsonl"
lines 2
expect 0 print --limit 1 --where 'process == 2' "$work/two.jsonl"
lines 1
expect 1 print --where 'pid == 71' "$work/two.jsonl"
# Who comes later is known all the same.
expect 0 convert --where 'process == 2' "$work/two.jsonl" "$work/part.jsonl"
expect 0 report --format jsonl "$work/part.jsonl"
[ "$(grep -c '"process":"/bin/second"' "$work/out")" = 3 ] || fail 'of a part'
expect 1 print --where 'pid == 1' "$TRACEWELL_SOURCE/tests/cli/steps.jsonl"
has 'no event of this trace has a pid' err

# Formats of one process say so.
cat >"$work/steps.jsonl" <<'END'
{"catalog":{"machine":"x86-64","processes":[{"pid":70},{"pid":71}]}}
{"kind":"step","process":1,"pc":"0x10","opcode":"90"}
{"kind":"step","process":2,"pc":"0x11","opcode":"90"}
END
for format in trace64 tfile; do
  expect 0 convert "$work/steps.jsonl" "$work/out" --format "$format"
  has 'the trace is of 2 processes, and the file will not say which of them an event is of' err
  has '1 event is of other processes than the first one' err
done
finish
