#!/bin/bash
# The build finds tests/inferiors by itself and builds them plain, with symbols, as PIE.
set -euo pipefail
for source in "$TRACEWELL_SOURCE"/tests/inferiors/*.c "$TRACEWELL_SOURCE"/tests/inferiors/*.cc; do
  [ -e "$source" ] || continue
  name=$(basename "${source%.*}")
  built=$TRACEWELL_INFERIORS/$name
  case $name in lib*) built=$built.so ;; esac
  [ -x "$built" ] || { echo "$name was not built"; exit 1; }
  case $(head "$source" | grep '^// build:' || true) in
    *-static-pie*) kind=DYN ;;
    *-static*|*-no-pie*|*-nostdlib*) kind=EXEC ;;
    *) kind=DYN ;;
  esac
  readelf -h "$built" | grep -q "Type: *$kind" || { echo "$name is not $kind"; exit 1; }
  if readelf -Ws "$built" | grep -q __asan; then echo "$name is not plain"; exit 1; fi
done
