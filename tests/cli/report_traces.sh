#!/usr/bin/env bash
# Templates for what is no trace hook: frames of a trace file that GDB saved when it ran
# examples/demo (the first six of them), and a slice of an instruction trace.
. "$(dirname "$0")/common.sh"
golden=$TRACEWELL_SOURCE/tests/cli/report
cp "$golden/orders.tf" "$golden/steps.trcfmt" "$work"
cp "$TRACEWELL_SOURCE/examples/demo/orders.trcfmt" "$work"
cd "$work" || exit 1

# same NAME: the last output is tests/cli/report/NAME.
same() {
  if [ "${TRACEWELL_RENEW:-}" = 1 ]; then cp out "$golden/$1"; fi
  diff -u "$golden/$1" out || fail "$1"
}
for templates in orders.trcfmt steps.trcfmt; do
  expect 0 report -c -t $templates
  lines 0
done
expect 0 report orders.tf -t orders.trcfmt
same frames.txt
expect 0 report orders.tf -t orders.trcfmt --format jsonl
same frames.jsonl

expect 0 convert "$TRACEWELL_SOURCE/tests/formats/data/synthetic_single.trace64" slice.trace64 \
  --from 1000 --to 1019
expect 0 report slice.trace64 -t steps.trcfmt
same steps.txt
expect 0 report slice.trace64 -t steps.trcfmt --format csv
same steps.csv

# The how-to's template for steps tells each kind of access apart, and is told nothing of doubt.
sed -n '/^    00B 1.0/,/[^\\]$/s/^    //p' "$TRACEWELL_SOURCE/docs/how-to/report-by-templates.md" \
  >how-to.trcfmt
expect 0 report -c -t how-to.trcfmt
lines 0
{
  echo '{"catalog":{"machine":"x86-64"}}'
  for access in '' read write read-write; do
    for values in '' '"old":"0200000000000000"' '"new":"0300000000000000"' \
      '"old":"0200000000000000","new":"0300000000000000"'; do
      memory="{\"addr\":\"0x7000\",\"size\":8,\"access\":\"$access\"${values:+,$values}}"
      echo '{"kind":"step","tid":7,"pc":"0x1000","opcode":"ff00","memory":['"${access:+$memory}"']}'
      [ -n "$access" ] || break
    done
  done
} >accesses.jsonl
expect 0 report accesses.jsonl -h -t how-to.trcfmt -O timestamp=3
same accesses.txt

# Frames are told by templates alone; what needs none is had without.
unset TRACEWELL_TEMPLATES
export XDG_STATE_HOME=$work/nowhere
frames=$cases/tfile/gdb-tsave/input.tf
expect 2 report "$frames"
lines 0
has "$frames has frames of tracepoints, which templates alone can tell: -t FILE names them" err
[ "$(wc -l <"$work/err")" = 1 ] || fail "$(cat "$work/err")"
expect 0 report "$frames" -t how-to.trcfmt
expect 0 report "$frames" --format jsonl
expect 0 report "$frames" -O hist=on
expect 0 report accesses.jsonl
finish
