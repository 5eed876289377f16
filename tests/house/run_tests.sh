#!/bin/bash
# tools/run_tests: where CI is set, a few tests that failed are run once more, each alone, and those
# that pass only then are named. What fails alone, and what fails with many, stays failed.
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# tests NAME=SCRIPT...
tests() {
  rm -rf "${build:?}"/*
  local test
  for test in "$@"; do
    printf '#!/bin/bash\ncd %q\n%s\n' "$build" "${test#*=}" >"$build/${test%%=*}"
    chmod +x "$build/${test%%=*}"
    echo "add_test(${test%%=*} \"$build/${test%%=*}\")" >>"$build/CTestTestfile.cmake"
  done
}
run() { status=0; said=$("$TRACEWELL_SOURCE/tools/run_tests" "$build" 2>&1) || status=$?; }
is() { [ "$status" -eq "$1" ] || fail "$2: status $status: $said"; }
once='[ -e was ] || { touch was; exit 1; }'

export CI=true
tests good=true
run
is 0 'tests that pass'
grep -q 'again' <<<"$said" && fail "passed tests are run again: $said"

tests good=true racing="$once"
run
is 0 'a test that passes alone'
grep -q '^run_tests: FAILED BESIDE OTHERS, PASSED ALONE: racing $' <<<"$said" || fail "$said"

tests bad=false racing="$once"
run
is 8 'a test that fails alone as well'
grep -q 'PASSED ALONE' <<<"$said" && fail "a failed test has passed: $said"

tests a="$once" b='exit 1' c='exit 1' d='exit 1'
run
is 8 'four tests'
grep -q '4 tests failed: too many' <<<"$said" || fail "$said"

tests
run
[ "$status" -ne 0 ] || fail "no test at all is a success: $said"

unset CI
tests racing="$once"
run
is 8 'a test that fails, for somebody who looks at it'
