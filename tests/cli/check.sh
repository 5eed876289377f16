#!/usr/bin/env bash
# tracewell check: 0 sound, 1 damaged, 3 not a trace at all.
. "$(dirname "$0")/common.sh"
file=$cases/tfile/gdb-tsave/input.tf

expect 0 check "$file"
has 'sound, 13 events'
head -c 30000 "$file" >"$work/cut.tf"
expect 1 check "$work/cut.tf"
has 'damage frame-cut at 0x'
has 'damaged, 2 problems; 7 events can be read'
expect 1 check --json "$work/cut.tf"
cp "$work/out" "$work/check.json"
expect 0 info --json "$work/cut.tf"
python3 - "$work/check.json" "$work/out" <<'END' || fail 'check --json'
import json, sys
check, info = (json.load(open(path)) for path in sys.argv[1:])
assert check["sound"] is False and check["records"] == info["records"] == 7, check
assert len(check["problems"]) == check["problem_count"] == 2, check
for key in ("format", "problems", "problem_count", "lost"):
    assert check[key] == info[key], (key, check[key], info[key])
END
expect 1 check --json --strict "$work/cut.tf"
has '"records": null'
expect 0 check --json "$file"
has '"sound": true'
has '"records": 13'
expect 1 check --strict "$work/cut.tf"
has 'damage frame-cut at 0x'
has 'damaged; the rest was not looked at'
expect 0 check --strict "$file"
echo text >"$work/text"
expect 3 check "$work/text"
expect 3 check --strict "$work/text"
printf '\177TRACE9\n\n' >"$work/future.tf"
expect 3 check "$work/future.tf"
has 'version' err

# Zeros that nobody has written, up to somewhere in the file's last page.
sample=$TRACEWELL_SOURCE/tests/formats/data/synthetic_single.trace64
cp "$sample" "$work/padded.trace64"
truncate -s $(($(stat -c %s "$sample") / 4096 * 4096 + 4096 + 1000)) "$work/padded.trace64"
expect 1 check "$work/padded.trace64"
has 'warning zero-tail at 0x'
expect 0 info "$work/padded.trace64"
has 'zero_pages taken for gaps in 1 place'
expect 1 repair "$work/padded.trace64" "$work/cut.trace64"
expect 0 check "$work/cut.trace64"

# Odd, but whole.
cp "$file" "$work/tail.tf"
echo trailing >>"$work/tail.tf"
expect 0 check "$work/tail.tf"
has 'note after-end'
cat >"$work/undefined.jsonl" <<'EOF'
{"catalog":{}}
{"kind":"frame","tracepoint":7}
{"kind":"frame","tracepoint":7}
EOF
expect 0 check "$work/undefined.jsonl"
has 'tracepoint 7, which is not defined'
lines 2

# Hooks that were lost are no damage; how many, and where, is told.
losses=$cases/hooklog/losses/input.hooks
expect 0 check "$losses"
has 'lost 9 of thread 1235 (dropped from the thread'"'"'s ring, which is circular): event 0'
places='in 2 places between events 2 and 6'
has "lost 5 of thread 1235 (no room in the thread's ring), $places"
has 'an unknown number of events of thread 1235 lost (packets are missing): event 4'
has 'input.hooks: sound, 3 events; lost: 14 and more'
expect 0 info "$losses"
has 'lost       14 and more'
has "           5 of thread 1235 (no room in the thread's ring), $places"
expect 0 info --json "$losses"
python3 - "$work/out" <<'END' || fail 'info --json of losses'
import json, sys
lost = json.load(open(sys.argv[1]))["lost"]
assert [(one["count"], one["thread"], one["first"]) for one in lost] == [
    (9, 1235, 0), (5, 1235, 2), (None, 1235, 4)], lost
END
printf '{"kind":"lost","tid":5,"count":%d,"why":"full","time_ns":%d000000000}\n' 2 1 3 2 \
  >"$work/timed.jsonl"
sed -i '1i {"catalog":{}}' "$work/timed.jsonl"
expect 0 check "$work/timed.jsonl"
has 'lost 5 of thread 5 (full), in 2 places between events 0 and 1, first at 1.000000000 s'
# Of a thread id that several processes had, whose it was that lost them.
cat >"$work/several.jsonl" <<'EOF'
{"catalog":{"extras":[["hooklog.thread.5","100"]]}}
{"kind":"lost","tid":5,"pid":200,"count":32,"why":"full"}
{"kind":"hook","tid":5,"pid":100,"id":"0100","subhook":0,"words":[]}
{"kind":"lost","tid":5,"pid":200,"count":1,"why":"full"}
{"kind":"lost","tid":6,"pid":200,"count":2,"why":"full"}
EOF
expect 0 check "$work/several.jsonl"
has 'lost 33 of thread 5 of process 200 (full), in 2 places'
has 'lost 2 of thread 6 (full): event 3'
expect 0 info --json "$work/several.jsonl"
python3 - "$work/out" <<'END' || fail 'info --json of losses of several processes'
import json, sys
lost = json.load(open(sys.argv[1]))["lost"]
assert [(one["thread"], one["process"]) for one in lost] == [(5, 200), (6, None)], lost
END
expect 0 print "$work/several.jsonl"
grep -q '^lost 0 .*  thread 5 of process 200$' "$work/out" || fail 'whose loss it was'
grep -q '^hook 1 .*  thread 5$' "$work/out" || fail 'a process that the catalog tells'
# Of a log, in which of its files damage is.
mkdir "$work/log"
echo '/* CTF 1.8 */ of tracewell' >"$work/log/metadata"
cp "$cases/hooklog/packet-cut/input.hooks" "$work/log/1234-0.0"
printf 'no packet' >"$work/log/1234-1.0"
expect 1 check "$work/log"
has 'packet-cut at 0x84: 1234-0.0: 10 bytes are missing at the end of packet 1'
has 'bad-record at 0x108: 1234-0.0: no record of trace hooks'
has 'no-packet at 0x0: 1234-1.0: 9 bytes are no packet'
cat >"$work/marks.jsonl" <<'EOF'
{"catalog":{}}
{"seq":0,"kind":"mark","text":"LOGFILE WRAPAROUND, 20 records dropped","time_ns":1000000000}
{"seq":1,"kind":"mark","text":"3 records lost: their threads could not make a ring"}
{"seq":2,"kind":"lost","tid":5,"count":0,"why":"packets are missing"}
EOF
expect 0 check "$work/marks.jsonl"
has 'lost 20 (the oldest of the log, which is limited): event 0, 1.000000000 s'
has 'lost 3 (their threads could not make a ring): event 1'
has '; lost: 23'
grep -q 'packets are missing' "$work/out" && fail 'what the log has dropped is told twice'
echo '{"seq":3,"kind":"lost","tid":5,"count":0,"why":"packets are missing"}' >>"$work/marks.jsonl"
expect 0 check "$work/marks.jsonl"
has '; lost: 23 and more'
# Marks are no events here, but they have numbers.
printf '%s\n' '{"catalog":{}}' '{"kind":"hook","id":"0100"}' '{"kind":"mark","text":"on"}' \
  '{"kind":"mark","text":"off"}' '{"kind":"hook","id":"0100"}' >"$work/marked.jsonl"
expect 0 check "$work/marked.jsonl"
has ': sound, 2 events (and 2 marks)'
expect 0 info "$work/marked.jsonl"
has 'records    2 (and 2 marks)'
# In a trace of steps they have the number of the step behind them.
printf '%s\n' '{"catalog":{}}' '{"kind":"mark","text":"on"}' '{"kind":"step","pc":"0x1"}' \
  >"$work/noted.jsonl"
expect 0 check "$work/noted.jsonl"
has ': sound, 1 event'
grep -q mark "$work/out" && fail 'a mark at a step has no number'
expect 0 check "$cases/hooklog/one-ring/input.hooks"
grep -q lost "$work/out" && fail 'nothing was lost'
finish
