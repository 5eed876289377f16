#!/usr/bin/env bash
# Hooks need little of the stack that they are on, also those that make a ring: a handler's or a
# coroutine's stack has a few KiB, and nothing tells a program that it was too small.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
most=1024
build() {  # NAME FOLDER OPTION…
  cc -O1 -pthread "${@:3}" -I"$TRACEWELL_SOURCE/include/tracewell/aix" \
    "$TRACEWELL_SOURCE/tests/inferiors/hook_stack.c" -o "$work/$1" -L"$build/$2" -lrts \
    -Wl,-rpath,"$build/$2" || fail "$1 does not build"
}
build stack lib
programs=(stack)
if runs_32_bit_programs; then
  build stack_32 lib32 -m32
  programs+=(stack_32)
fi
frames() {  # PROGRAM…: what it prints is small
  "$@" >"$work/out" || fail "$*: status $?"
  while read -r bytes; do
    [ "$bytes" -le $most ] || fail "$*: a hook takes $bytes bytes of stack, more than $most"
  done <"$work/out"
}
for program in "${programs[@]}"; do
  trace -a -o "$work/log" || fail trace
  frames "$work/$program"
  trcstop || fail trcstop
  expect 0 print "$work/log" --where 'kind == "hook"' --format jsonl
  [ "$(grep -c '"kind":"hook"' "$work/out")" = 2 ] || fail "$program: hooks are not there"
  rm -rf "$work/log"
  trace -a -f -T 1000000 -L 4000000 -o "$work/log" || fail "trace -f"
  frames "$work/$program" adopt
  trcstop || fail trcstop
  rm -rf "$work/log"
done
finish
