# Sourced by the tests of this folder: where things are, and what to expect of a command.
set -u
: "${TRACEWELL_BIN:?set it to the folder of the built programs}"
: "${TRACEWELL_SOURCE:?set it to the root of the source tree}"
tracewell=$TRACEWELL_BIN/tracewell
cases=$TRACEWELL_SOURCE/tests/formats
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sanitized=${TRACEWELL_SANITIZED:-}
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# A misspelled check checks nothing. (Bash runs this in a process of its own.)
command_not_found_handle() {
  echo "FAILED: no such command: $*" | tee -a "$work/not-found"
  return 127
}

# expect STATUS ARGS...: runs tracewell; output in $work/out, errors in $work/err.
expect() {
  local wanted=$1
  shift
  "$tracewell" "$@" >"$work/out" 2>"$work/err" </dev/null
  local got=$?
  [ "$got" = "$wanted" ] || {
    fail "tracewell $*: exit status $got, not $wanted"
    head -5 "$work/err"
  }
}

# has TEXT [FILE]: the last output has it.
has() {
  grep -qF -- "$1" "$work/${2:-out}" || {
    fail "\"$1\" is not in ${2:-out}:"
    head -20 "$work/${2:-out}"
  }
}

# lines COUNT: the last output has that many.
lines() {
  local got
  got=$(wc -l <"$work/out")
  [ "$got" = "$1" ] || fail "$got lines, not $1"
}

# Some kernels and hypervisors do not: what needs one is left out there, and that is said.
runs_32_bit_programs() {
  "$TRACEWELL_INFERIORS/ends_32" exit 0 2>/dev/null && return
  echo "not tested: this kernel runs no 32-bit programs"
  false
}

# within SECONDS COMMAND...: it may take that much of the processor's time, however long others have
# the processor meanwhile. 152: it took more.
within() (
  ulimit -St "$1"
  shift
  exec "$@"
)

finish() {
  [ "$failures" = 0 ] && [ ! -e "$work/not-found" ] || exit 1
  echo ok
}
