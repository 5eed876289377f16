#!/bin/bash
# replay's refusals: each says what is wrong, and nothing is served.
set -euo pipefail
tracewell=$TRACEWELL_BIN/tracewell
# AddressSanitizer reserves far more address space than any limit that would mean something.
limit=2000000
if grep -q __asan_init "$tracewell"; then limit=unlimited; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
refused() {  # STATUS WORDS ARGUMENTS...: exit status and a part of the message
  local status=0
  (ulimit -v "$limit"; timeout 30 "$tracewell" replay "${@:3}" < /dev/null) 2> "$work/said" \
    || status=$?
  if [ "$status" != "$1" ] || ! grep -q -- "$2" "$work/said"; then
    echo "replay ${*:3}: status $status, said: $(cat "$work/said")"
    exit 1
  fi
}
printf '\x7fTRACE0\nR ffffffff\nstatus 0;tnotrun:0;tframes:0\n\n\0\0\0\0' > "$work/huge.tf"
refused 3 'register blocks of 4294967295 bytes' "$work/huge.tf" -
refused 4 'cannot open' "$work/none.tf" -
printf 'not a trace' > "$work/text"
refused 3 'not a trace' "$work/text" -
refused 2 'COMM' "$work/huge.tf"
