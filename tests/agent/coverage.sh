#!/bin/sh
# docs/protocol/coverage.md is what tools/gen_coverage makes of the table of packets.
# timeout: 30
exec "$TRACEWELL_SOURCE/tools/gen_coverage" --check
