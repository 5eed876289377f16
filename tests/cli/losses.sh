#!/usr/bin/env bash
# Commands that choose, count or look for something say what a trace has lost: nobody knows whether
# that would be in the answer.
. "$(dirname "$0")/common.sh"
export XDG_STATE_HOME=$work/state XDG_RUNTIME_DIR=$work/run
unset TRACEWELL_LOG TRACEWELL_TEMPLATES

cat >"$work/steps.jsonl" <<'END'
{"catalog":{"machine":"x86-64","endian":"little"}}
{"kind":"step","pc":"0x1000","opcode":"90"}
{"kind":"step","pc":"0x1001","opcode":"90"}
{"kind":"lost","count":7}
{"kind":"step","pc":"0x1003","opcode":"90"}
{"kind":"lost","count":2}
END
missing='missing-steps at 0x8b: 7 instructions are missing in front of step 2; nobody knows'
for format in jsonl trace64; do
  file=$work/steps.$format
  [ -e "$file" ] || expect 0 convert "$work/steps.jsonl" "$file"
  text=$missing
  [ "$format" = jsonl ] || text='missing-steps'
  expect 0 hits "$file"
  has "$text" err
  expect 0 hits "$file" --blocks --json
  has "$text" err
  expect 1 find "$file" exec 0x1002
  has "$text" err
  has 'nothing found' err
  expect 0 find "$file" exec 0x1003
  has "$text" err
  expect 1 calls "$file"
  has "$text" err
  expect 1 print "$file" --where 'pc == 0x1002'
  has "$text" err
  has 'no step fits' err
done
expect 0 hits "$work/steps.jsonl"
has '1 more of missing-steps' err
grep -v lost "$work/steps.jsonl" >"$work/whole.jsonl"
for command in "hits $work/whole.jsonl" "find $work/whole.jsonl exec 0x1003"; do
  expect 0 $command
  [ ! -s "$work/err" ] || fail "nothing is missing: $(cat "$work/err")"
done

cat >"$work/hooks.jsonl" <<'END'
{"catalog":{"endian":"little"}}
{"kind":"hook","id":"0100","subhook":1,"words":["0x9"],"tid":5,"time_ns":1003874101}
{"kind":"lost","count":12,"why":"no room","tid":6,"time_ns":2003874200}
{"kind":"lost","count":3,"why":"no room","tid":5,"time_ns":2003874250}
{"kind":"hook","id":"0220","subhook":2,"words":["0x9"],"tid":5,"time_ns":2003874300}
{"kind":"mark","text":"4 records lost: full","time_ns":2003874400}
END
hooks=$work/hooks.jsonl
sed 's/"count":3,"why":"no room"/"count":0,"why":"full"/' "$hooks" >"$work/unknown.jsonl"
expect 0 print "$work/unknown.jsonl" --where 'tid == 5'
[ "$(grep -n '^lost' "$work/out" | cut -d' ' -f1-4)" = $'2:lost 2  12\n3:lost 2  full' ] ||
  fail "losses in their order: $(cat "$work/out")"
expect 0 print "$work/unknown.jsonl" --where 'id == 0x220'
has '12 events  no room'
has 'full'
has 'unknown.jsonl: an unknown number of events of thread 5 lost (full): event 2' err
expect 0 print "$hooks" --where 'id == 0x220'
[ "$(grep -c . "$work/out")" = 2 ] || fail "a hook and what was lost: $(cat "$work/out")"
has 'lost 3  15 events  no room'
has 'hooks.jsonl: lost 12 of thread 6 (no room): event 1' err
has 'hooks.jsonl: lost 3 of thread 5 (no room): event 2' err
has 'hooks.jsonl: lost 4 (full): event 4' err
has 'nobody knows whether what is lost would be in this answer' err
expect 0 print "$hooks" --where 'id == 0x220' --limit 1
has 'hook 3  0220'
expect 1 print "$hooks" --where 'id == 0x330'
[ ! -s "$work/out" ] || fail "nothing fits"
has 'lost 12 of thread 6' err
has 'no event fits' err
expect 0 convert "$hooks" "$work/part.jsonl" --where 'id == 0x220'
has 'lost 12 of thread 6' err
grep -q '"kind":"lost".*"count":15' "$work/part.jsonl" || fail "losses are events"
expect 1 convert "$hooks" "$work/none.jsonl" --where 'id == 0x330'
has 'lost 12 of thread 6' err
expect 0 print "$hooks" --to 0 --where 'id == 0x100'
if grep -q 'lost' "$work/err"; then fail 'that is behind --to'; fi

for choice in '-d 022' '-k 010' '-T 5' '-p 7'; do
  status=0
  [ "$choice" != '-p 7' ] || status=1
  expect $status report "$hooks" $choice
  has 'hooks.jsonl: lost 12 of thread 6 (no room): event 1' err
  has 'hooks.jsonl: lost 4 (full): event 4' err
done
expect 0 report "$hooks"
if grep -q 'lost 12' "$work/err"; then fail 'the report shows them all'; fi

# Numbers that nobody believes, and whose sum would be a small one.
{
  echo '{"catalog":{"endian":"little","machine":"x86-64"}}'
  echo '{"kind":"hook","id":"0100","words":["0x1"]}'
  echo '{"kind":"lost","count":18446744073709551615,"why":"a"}'
  echo '{"kind":"lost","count":6,"why":"b"}'
  echo '{"kind":"hook","id":"0200","words":["0x2"]}'
} >"$work/huge.jsonl"
expect 0 print "$work/huge.jsonl" --where 'id == 0x0200'
has '6 events'
if grep -q '5 events' "$work/out" "$work/err"; then fail 'a sum that wrapped'; fi
finish
