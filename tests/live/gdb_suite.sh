#!/usr/bin/env bash
# The set `quick` of GDB's own testsuite against our server, on both boards, if the suite has been
# fetched: it comes from the network, which tests do not ask for anything.
# timeout: 240
# skips
set -u
: "${TRACEWELL_BIN:?set it to the folder of the built programs}"
: "${TRACEWELL_SOURCE:?set it to the root of the source tree}"
said=$("$TRACEWELL_SOURCE/tools/gdb_suite" --check 2>&1)
case $? in
  0) ;;
  4)
    echo "skipped: ${said#gdb_suite: }"
    exit 0
    ;;
  *)
    echo "$said"
    exit 1
    ;;
esac
exec "$TRACEWELL_SOURCE/tools/gdb_suite" --set quick --flags pie --timeout 60 --only ours \
  --server "$TRACEWELL_BIN/tracewell-gdbserver"
