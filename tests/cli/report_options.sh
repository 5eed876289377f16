#!/usr/bin/env bash
# Each option of tracewell report, and of trcrpt, which is the same program.
. "$(dirname "$0")/common.sh"
export TZ=UTC XDG_STATE_HOME=$work/state XDG_RUNTIME_DIR=$work/run
unset TRACEWELL_LOG TRACEWELL_TEMPLATES TRACEWELL_EVENT_GROUPS NO_COLOR
hooks=$TRACEWELL_SOURCE/tests/cli/hooks.jsonl
golden=$TRACEWELL_SOURCE/tests/cli/report
mkdir -m 700 "$work/run"
cp "$hooks" "$work/a.jsonl"
cat >"$work/mine" <<'END'
010 1.0 L=APPL "Alloc" $GENERIC, \
  0 { "address=0x"$D1 "size="$D3%D4 " bytes" }, 1 { "text=" G16 LOOP $HL {A0} }
022 1.0 L=SVC "@quiet" "word="$D1%D4 \n "second line"
END
cat >"$work/b.jsonl" <<'END'
{"catalog":{"endian":"little","extras":[["hooklog.thread.5","50"],["hooklog.thread.6","60"]]}}
{"kind":"mark","text":"process 50: /usr/bin/first","tid":5,"cpu":0,"time_ns":1003800000}
{"kind":"mark","text":"process 60: /usr/bin/second","tid":6,"cpu":0,"time_ns":1003800001}
{"kind":"hook","id":"0220","subhook":2,"words":["0x9"],"tid":5,"cpu":0,"time_ns":1003874101}
HOOK32,"words":["0xa"],"tid":6,"cpu":3,"time_ns":2003874101}
{"kind":"lost","count":12,"why":"no room","tid":6,"time_ns":2003874200}
{"kind":"mark","text":"LOGFILE WRAPAROUND, 7 records dropped","time_ns":2003874300}
{"kind":"mark","text":"TRACE OFF channel 0, the log is full","time_ns":2003874400}
END
hook32='{"kind":"hook","id":"0220","subhook":1,"env":32,"type":10'
sed -i "s/^HOOK32/$hook32/" "$work/b.jsonl"
cd "$work" || exit 1

# Two digits stand for sixteen hooks: who gets nothing may have meant another one.
expect 1 report "$hooks" -d 77
has 'nothing was to be printed; 77 stands for the hooks 770 to 77F; the hook 077 is written 077' err
expect 1 report "$hooks" -d 770,0771
[ "$(cat "$work/err")" = 'tracewell: nothing was to be printed' ] || fail "$(cat "$work/err")"

# same NAME: the last output is tests/cli/report/NAME.
same() {
  if [ "${TRACEWELL_RENEW:-}" = 1 ]; then
    mkdir -p "$golden" && cp "$work/out" "$golden/$1"
  fi
  diff -u "$golden/$1" "$work/out" || fail "$1"
}

# Goldens: NAME, then the options that make it.
expect 0 report a.jsonl b.jsonl -m -t mine
same merged.txt
expect 0 report a.jsonl b.jsonl -t mine -O timestamp=1
same one-after-the-other.txt
expect 0 report a.jsonl b.jsonl -m -t mine -x -O tid=on,cpuid=on -O filename=on
same all-columns.txt
expect 0 report a.jsonl b.jsonl -m -t mine -O 2line=on,pagesize=6,timestamp=2
same two-lines.txt
expect 0 report a.jsonl b.jsonl -m -t mine -O hist=on
same counts.txt
expect 0 report a.jsonl b.jsonl -m -t mine --format jsonl
same events.jsonl
python3 -c 'import json, sys
for line in open(sys.argv[1]): json.loads(line)' out || fail "no JSON"
expect 0 report a.jsonl b.jsonl -m -t mine --format csv
same events.csv
python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert len(rows) == 12 and all(None not in row for row in rows), rows
assert rows[3]["fields"] == "address=0x6D616C6C6F630000; size=4 bytes"' out || fail "CSV"
expect 0 report a.jsonl b.jsonl -m -t mine -h --color always -O timestamp=3
same color.txt
expect 0 report a.jsonl b.jsonl -m -r
od -A d -t x1 -v out >bytes && mv bytes out
same raw.txt

# Entries do not say on which processor they were made: -C writes those of one.
for cpu in 0 1; do
  expect 0 report "$hooks" -r -C $cpu -o "$cpu.raw"
  [ -s "$cpu.raw" ] || fail "no entry of processor $cpu"
done
expect 0 report "$hooks" -r
[ "$(wc -c <out)" = "$(cat 0.raw 1.raw | wc -c)" ] || fail "entries of all processors"

# The offset that the raw form shows is that of the entry there.
expect 0 report b.jsonl -r -o stored
expect 0 report b.jsonl -h -k 00C
python3 - out stored <<'END' || fail "idx is no offset"
import re, struct, sys
text, stored = open(sys.argv[1]).read(), open(sys.argv[2], "rb").read()
places = re.findall(r"idx 0x([0-9a-f]+)\s+traceid (\w+) hookword (\w+)", text)
assert len(places) == 2, text
for at, hook, word in places:
    at, word = int(at, 16), bytes.fromhex(word)
    halves = [word[i:i + 2][::-1] for i in range(0, len(word), 2)]
    assert stored[at:at + len(word)] == b"".join(halves), (at, hook, word)
END

# Hooks, subhooks, groups.
expect 0 report b.jsonl -h -O timestamp=3 -t mine -d 022:0002
lines 2
has 'word=9'
expect 0 report b.jsonl -h -O timestamp=3 -t mine -d '02 005'
lines 5
expect 0 report b.jsonl -h -O timestamp=3 -t mine -k 022:2,00C
lines 5
expect 2 report b.jsonl -d 022:x
has '010:0001 with a subhook' err
# A generic hook of a 32-bit program: its template sees the length as $HD, those who choose do not.
cat >generic32.jsonl <<'END'
{"catalog":{"endian":"little"}}
HOOK32,"words":["0x7"],"data":"6e6f206d6f7265"}
END
sed -i 's/^HOOK32/{"kind":"hook","id":"0100","subhook":2,"env":32,"generic":true/' generic32.jsonl
echo '010 1.0 "" $HD%U2' >length
expect 0 report generic32.jsonl -t length -d 010:2 -O timestamp=3
has '010                   7'
expect 1 report generic32.jsonl -t length -d 010:7
has 'nothing was to be printed' err
expect 1 report generic32.jsonl -t length -k 010:2
expect 0 report generic32.jsonl -t length --format jsonl
has '"id":"0100","subhook":2,'
expect 0 report generic32.jsonl -t length --format csv
has ',0100,2,'
cat >groups <<'END'
# ours
mine - hooks of mine (user) "022,010"
END
export TRACEWELL_EVENT_GROUPS=$work/groups
expect 0 report -G
has 'mine - hooks of mine (user) "022,010"'
has 'facility - the trace facility itself (reserved) "00"'
expect 0 report b.jsonl -h -O timestamp=3 -t mine -D mine
lines 4
expect 0 report b.jsonl -h -O timestamp=3 -t mine -K facility -d 022,005
lines 4
expect 2 report b.jsonl -D nobody
has "-D: there is no event group 'nobody' (trcevgrp -l lists them)" err
echo 'no group' >groups
expect 3 report -G
has 'groups:1: expected name - description (type) "hooks"' err
unset TRACEWELL_EVENT_GROUPS

# Processes, threads, processors, dates, times.
expect 0 report b.jsonl -h -t mine -p first -d 022 -O timestamp=3
lines 2
has 'word=9'
expect 0 report b.jsonl -h -t mine -p 60,/usr/bin/first -d 022 -O timestamp=3
lines 4
expect 2 report b.jsonl -p 6x
has 'process numbers, names of programs' err
expect 0 report b.jsonl -h -t mine -T 5,6 -d 022
lines 4
expect 0 report b.jsonl -h -t mine -T '!5' -d 022
lines 2
expect 0 report b.jsonl -h -t mine -C '0 1' -d 022
lines 2
expect 0 report b.jsonl -h -t mine -C all -d 022
lines 4
expect 0 report b.jsonl -h -t mine -d 022 -s 010100000270
lines 2
has 'word=10'
expect 0 report b.jsonl -h -t mine -d 022 -e 010100000170
lines 2
has 'word=9'
expect 1 report b.jsonl -h -t mine -d 022 -s 010100000370
for date in 1301000001 023100000170 01010000017x 010124000170; do
  expect 2 report b.jsonl -s "$date"
  has 'MMddhhmmssyy' err
done
expect 0 report b.jsonl -h -t mine -d 022 -O starttime=0.5
lines 2

# Settings.
expect 0 report b.jsonl -t mine -O ids=off,reportedcpus=on
has 'reported processors: 2'
grep -q '^ID' out && fail "ids=off"
expect 0 report b.jsonl b.jsonl -m -h -d 022 -t mine
lines 4
expect 0 report b.jsonl b.jsonl -m -h -d 022 -t mine -O removedups=off
lines 8
expect 0 report b.jsonl b.jsonl -h -d 022 -t mine
lines 8
expect 0 report b.jsonl -O svc=off
for setting in svc=on PURR=on; do
  expect 2 report b.jsonl -O $setting
  has "-O $setting: " err
done
for setting in hist=on,pid=on timestamp=4 pagesize=501 pid=maybe what=on; do
  expect 2 report b.jsonl -O $setting
  has '-O' err
done
for option in -M -n -@; do
  expect 2 report $option b.jsonl
  has "$option" err
done
expect 2 report b.jsonl -r --format csv
expect 2 report b.jsonl --format xml
expect 0 report b.jsonl -v -t mine -o text
has 'b.jsonl' err
has 'mine' err
[ -s text ] || fail "-o"

# A log that is cut: what is whole, then where it is cut.
expect 3 report -h "$cases/hooklog/packet-cut/input.hooks" --input-format hooklog -t mine
has 'bytes are missing at the end of packet 1'
[ "$(grep -c 'Alloc' out)" = 2 ] || fail "whole events of a log that is cut"
expect 3 report -h -m b.jsonl "$cases/hooklog/bad-record/input.hooks" -t mine -d 006
has ': damaged'

# What is read stays: a template, a trace, what lies in a log's folder.
mkdir -p folder && cp "$cases/hooklog/packet-cut/input.hooks" folder/part
cp mine mine.kept
for output in mine a.jsonl ./a.jsonl; do
  expect 2 report -h a.jsonl -t mine -o "$output"
  has 'are the same file; give another one to write' err
done
cmp mine mine.kept || fail 'a template was written over'
expect 2 report -h folder -t mine -o folder/metadata
has 'folder/metadata is in the log folder' err

# Colour: not in a file, not with NO_COLOR.
grep -q $'\x1b' text && fail "a file has colour"
if command -v script >/dev/null; then
  script -qec "$tracewell report b.jsonl -h" /dev/null </dev/null >out
  grep -q $'\x1b\[1m' out || fail "a terminal has no colour"
  NO_COLOR=1 script -qec "$tracewell report b.jsonl -h" /dev/null </dev/null >out
  grep -q $'\x1b\[1m' out && fail "NO_COLOR"
  script -qec "$tracewell report b.jsonl -r" /dev/null </dev/null >out
  grep -q 'not written to a terminal' out || fail "-r to a terminal"
fi

# Under AIX's name, with the common template file and log.
export TRACEWELL_TEMPLATES=$work/mine TRACEWELL_LOG=$work/a.jsonl
"$TRACEWELL_BIN/aix/trcrpt" -h -d010 -O timestamp=3 >out || fail "trcrpt"
lines 3
has 'address=0x6D616C6C6F630000 size=4 bytes'
"$TRACEWELL_BIN/aix/trcrpt" -j >out || fail "trcrpt -j"
has '022 quiet'
"$TRACEWELL_BIN/aix/trcrpt" -c || fail "trcrpt -c"
"$TRACEWELL_BIN/aix/trcrpt" -mh -t mine a.jsonl b.jsonl >out || fail "trcrpt -mh"
has 'size=4'
"$TRACEWELL_BIN/aix/trcrpt" -n names 2>err && fail "trcrpt -n"
has 'name list' err
finish
