#!/usr/bin/env bash
# Standard output and standard error that do not block (pipes of Node, ssh, test runners) and are
# read late: all arrives, and once.
. "$(dirname "$0")/common.sh"
late="python3 $TRACEWELL_SOURCE/tests/cli/late_readers.py"
sample=$TRACEWELL_SOURCE/tests/formats/data/synthetic_threads_fixed.trace64
cp "$sample" "$work/run.trace64"
trace=$work/run.trace64
expect 0 at "$trace" 5

for command in "print $trace" "print --format jsonl $trace" "print --columns pc,tid $trace" \
               "convert --format csv $trace -" "convert --format csv $trace /dev/stdout" \
               "hits $trace" "find $trace exec 0x0,0xffffffffffffffff --limit 3000" \
               "at $trace 5 --mem 0x140000000,262144" "info --json $trace"; do
  "$tracewell" $command >"$work/wanted" 2>"$work/err" </dev/null
  wanted=$?
  $late "$tracewell" $command >"$work/got" 2>"$work/err"
  got=$?
  [ "$got" = "$wanted" ] || fail "$command: exit status $got, not $wanted: $(head -1 "$work/err")"
  cmp -s "$work/wanted" "$work/got" || fail "$command: $(wc -c <"$work/got") bytes arrived of \
$(wc -c <"$work/wanted")"
done

# What is told on standard error.
"$tracewell" info "$work/none" 2>"$work/wanted"
$late --errors "$tracewell" info "$work/none" >"$work/got"
[ $? = 4 ] || fail 'the exit status of an error'
cmp -s "$work/wanted" "$work/got" || fail "standard error: $(cat "$work/got")"

# A reader that goes away ends us quietly, as before (SIGPIPE).
$late --close "$tracewell" print "$trace" >"$work/out" 2>"$work/err"
[ $? = $((256 - 13)) ] || fail 'a reader that went away'
[ ! -s "$work/err" ] || fail "a reader that went away: $(cat "$work/err")"
finish
