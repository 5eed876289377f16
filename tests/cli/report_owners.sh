#!/usr/bin/env bash
# Logs of several users in one report: what the events of one decide for those behind them holds for
# that user's logs alone. Needs root, to make files of other users.
# skips
. "$(dirname "$0")/common.sh"
[ "$(id -u)" = 0 ] || {
  echo "skipped: only root can give files to other users"
  exit 0
}
export TZ=UTC
mallory=65533 alice=65532
cd "$work" || exit 1
cat >templates <<'END'
010 1.0 L=APPL "work" $D1%D4 $D1%D4, 666 { "last" $STOP }
011 1.0 L=APPL "begin" starttimer(1, 2)
012 1.0 L=APPL "end" endtimer(1, 2)
013 1.0 L=APPL "costs" {{ $n = 9000 }} LOOP $n {{{ $x = 1 + 2 }} {{ $x = 3 }} {{ $x = 4 }}}
END
# log NAME OWNER: the events are on standard input, as HOOK WORD TIME_NS.
log() {
  {
    echo '{"catalog":{"endian":"little"}}'
    while read -r hook word time; do
      echo "{\"kind\":\"hook\",\"id\":\"$hook\",\"subhook\":0,\"env\":64,\"words\":[\"$word\"]," \
        "\"tid\":7,\"cpu\":0,\"time_ns\":$time}"
    done
  } >"$1"
  chown "$2" "$1"
}
# report STATUS ARGS…: texts alone, unless ARGS say otherwise
texts() {
  local status=$1
  shift
  expect "$status" report -t templates -h -O timestamp=3,ids=off,filename=on "$@"
}
is() {  # LINES…
  diff <(printf '%s\n' "$@") <(sed 's/  */ /g; s/^ //; s/ $//' out) >difference ||
    fail "$(cat difference)"
}

# $STOP ends the logs of the user whose event says so.
log m.jsonl $mallory <<'END'
0100 0x1 1000000000
0100 0x29a 2000000000
0100 0x2 3000000000
END
log m2.jsonl $mallory <<'END'
0100 0x3 1500000000
0100 0x4 2500000000
END
log a.jsonl $alice <<'END'
0100 0x5 1000000000
0100 0x6 2600000000
0100 0x7 4000000000
END
texts 0 -m m.jsonl m2.jsonl a.jsonl
is 'm.jsonl work 1' 'a.jsonl work 5' 'm2.jsonl work 3' 'm.jsonl work 666 last' 'a.jsonl work 6' \
  'a.jsonl work 7'
has 'm.jsonl: a template ends the report here ($STOP): for all logs of user' err
# One after the other.
texts 0 m.jsonl a.jsonl m2.jsonl
is 'm.jsonl work 1' 'm.jsonl work 666 last' 'a.jsonl work 5' 'a.jsonl work 6' 'a.jsonl work 7'
has '($STOP): for all logs of user' err
for form in jsonl csv; do
  expect 0 report -t templates -m --format $form m.jsonl m2.jsonl a.jsonl
  [ "$(grep -c 'a\.jsonl' out)" = 3 ] || fail "$form: alice's events: $(cat out)"
  [ "$(grep -c 'm2\.jsonl' out)" = 1 ] || fail "$form: the other log of who stopped: $(cat out)"
done
# A pipe is nobody's: it ends itself.
mkfifo pipe
cat m.jsonl >pipe &
texts 0 -m pipe m2.jsonl a.jsonl
[ "$(grep -c work out)" = 7 ] || fail "behind a pipe: $(cat out)"
has 'for this log, whose owner is not known' err
wait
# All of one owner's: as ever, and nothing is said of it.
for owner in $mallory 0; do
  chown $owner m.jsonl m2.jsonl a.jsonl
  texts 0 -m m.jsonl m2.jsonl a.jsonl
  is 'm.jsonl work 1' 'a.jsonl work 5' 'm2.jsonl work 3' 'm.jsonl work 666 last'
  texts 0 m.jsonl a.jsonl m2.jsonl
  is 'm.jsonl work 1' 'm.jsonl work 666 last'
  [ ! -s err ] || fail "of one owner: $(cat err)"
done

# A timer.
log m.jsonl $mallory <<'END'
0110 0x0 1500000000
0120 0x0 2500000000
END
log a.jsonl $alice <<'END'
0110 0x0 1000000000
0120 0x0 2000000000
END
texts 0 -m m.jsonl a.jsonl
is 'a.jsonl begin' 'm.jsonl begin' 'a.jsonl end [1000000 usec]' 'm.jsonl end [1000000 usec]'
chown $alice m.jsonl
texts 0 -m m.jsonl a.jsonl
is 'a.jsonl begin' 'm.jsonl begin' 'a.jsonl end [500000 usec]' 'm.jsonl end [1000000 usec]'

# What both have alike: a copy of an event takes that of nobody else away.
log m.jsonl $mallory <<'END'
0100 0x1 1000000000
0100 0x2 2000000000
END
cp m.jsonl a.jsonl
chown $alice a.jsonl
texts 0 -m m.jsonl a.jsonl
is 'm.jsonl work 1' 'a.jsonl work 1' 'm.jsonl work 2' 'a.jsonl work 2'
chown $alice m.jsonl
texts 0 -m m.jsonl a.jsonl
is 'm.jsonl work 1' 'm.jsonl work 2'

# Times: when one's log began, and what was printed before, is nothing to others.
log m.jsonl $mallory <<'END'
0100 0x1 0
0100 0x2 1000000000000
0100 0x3 1000001500000
END
log a.jsonl $alice <<'END'
0100 0x5 1000001000000
0100 0x6 1000002000000
END
times() { expect 0 report -t templates -h -m m.jsonl a.jsonl -O timestamp=2,filename=on "$@"; }
times
is 'm.jsonl 010 0 0 work 1' 'm.jsonl 010 1000000000 1000000000 work 2' 'a.jsonl 010 0 0 work 5' \
  'm.jsonl 010 1000001500 1500 work 3' 'a.jsonl 010 1000 1000 work 6'
times -O starttime=0,endtime=0.0015
is 'm.jsonl 010 0 0 work 1' 'a.jsonl 010 0 0 work 5' 'a.jsonl 010 1000 1000 work 6'
chown $alice m.jsonl
times
is 'm.jsonl 010 0 0 work 1' 'm.jsonl 010 1000000000 1000000000 work 2' \
  'a.jsonl 010 1000001000 1000 work 5' 'm.jsonl 010 1000001500 500 work 3' \
  'a.jsonl 010 1000002000 500 work 6'
times -O starttime=0,endtime=0.0015
is 'm.jsonl 010 0 0 work 1'

# The instructions that all events have in common.
for ((i = 0; i < 400; ++i)); do echo "0130 0x0 $((1000000000 + i))"; done | log m.jsonl $mallory
echo '0130 0x0 2000000000' | log a.jsonl $alice
texts 0 -m m.jsonl a.jsonl --template-work 1
limit='the instruction limit for all events together is used up'
grep -q "m.jsonl.*$limit" out || fail "no limit: $(head -3 out)"
if grep -q "a.jsonl.*$limit" out; then fail "another user's events use it up"; fi
chown $alice m.jsonl
texts 0 -m m.jsonl a.jsonl --template-work 1
grep -q "a.jsonl.*$limit" out || fail "of one owner, it is not common: $(tail -1 out)"
finish
