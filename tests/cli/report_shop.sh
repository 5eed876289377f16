#!/usr/bin/env bash
# examples/hooks: a server with hooks at each stage, and its report by thirty templates.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
export TRACEWELL_PREFIX=$TRACEWELL_BIN/..
export TRACEWELL_EVENT_GROUPS=$work/none
example=$TRACEWELL_SOURCE/examples/hooks
golden=$TRACEWELL_SOURCE/tests/cli/report/shop.txt

expect 0 report -c -t "$example/shop.trcfmt"
lines 0
"$example/run" -h -O timestamp=3 >"$work/out" 2>"$work/err" || fail "examples/hooks/run"
# What is different each time: where things are, and how long they take.
sed -i -E 's|/[^ ]*/shop$|PATH/shop|; s/at=0x[0-9A-F]+/at=0xADDRESS/; s/\[[0-9]+ usec\]/[N usec]/
  s/process [0-9]+/process PID/' "$work/out"
if [ "${TRACEWELL_RENEW:-}" = 1 ]; then cp "$work/out" "$golden"; fi
diff -u "$golden" "$work/out" || fail "the shop's report"
[ "$(cut -d ' ' -f 1 "$work/out" | grep -c '^0')" -gt 100 ] || fail "too few events"

# Its events for programs: each flow of a request has what it printed.
"$example/run" --format jsonl -d 023 >"$work/out" || fail "jsonl"
python3 - "$work/out" <<'PY' || fail "what the rows say"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert [row["fields"]["status"] for row in rows][:4] == ["200 OK", "200 OK", "200 OK",
                                                         "404 Not Found"], rows
assert {row["label"] for row in rows} == {"STATUS"}
assert [row["fields"]["conn"] for row in rows] == [str(n) for n in range(1, 11)]
PY
finish
