#!/bin/bash
# tools/ahead.sh: what is built ahead has idle priority, its failure is told, and it ends with the
# script that began it.
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir build
cat >script <<EOF
set -euo pipefail
. "$TRACEWELL_SOURCE/tools/ahead.sh"
await_ahead
build_ahead bash -c "\$1"
eval "\$2"
await_ahead
echo end
EOF
# run BUILD MEANWHILE: the status is in `status`, what was said in `said`.
run() {
  status=0
  said=$(bash script "$@" 2>&1) || status=$?
}

run 'chrt --pid $$' true
[ "$status $said" = "0 end" ] || fail "a build that is done: $status $said"
grep -q SCHED_IDLE build/ahead.log || fail "its priority: $(cat build/ahead.log)"

run 'echo broken; exit 3' true
[ $status -eq 0 ] || fail "a build that fails decides nothing: $status"
grep -q broken <<<"$said" || fail "it is not told: $said"

# The build has begun by then, and would wait for ever.
mkfifo never
run 'echo $$ >pid.new; mv pid.new pid; read -r <never' \
  'until [ -e pid ]; do sleep 0.01; done; false'
[ $status -eq 1 ] || fail "what fails meanwhile: $status"
for _ in $(seq 1000); do
  kill -0 "$(cat pid)" 2>/dev/null || exit 0
  sleep 0.01
done
fail "the build outlives its script"
