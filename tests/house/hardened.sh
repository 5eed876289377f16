#!/bin/bash
# What was built is hardened: addresses are chosen anew each time (PIE), nothing that was bound can
# be changed later (RELRO, BIND_NOW), and a buffer that overflows ends the program.
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
program=$TRACEWELL_BIN/tracewell
build=$TRACEWELL_BIN/..
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
# has FILE TEXT WORDS…: what readelf says of it has the text.
has() {
  local file=$1 text=$2
  shift 2
  readelf -W "$@" "$file" >"$work/said"
  grep -qE -- "$text" "$work/said" || fail "$file: readelf $* does not say $text"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for library in "$build"/lib/librts.so "$build"/lib32/librts.so; do
  [ -e "$library" ] || continue
  has "$library" '\(FLAGS\).*BIND_NOW|\(BIND_NOW\)' -d
  has "$library" GNU_RELRO -l
done
# They are put into programs of others, and need nothing of them.
for library in "$build"/lib/libinproctrace.so "$build"/lib/libtracewell-agent.so; do
  readelf -W --dyn-syms "$library" | awk '$7 == "UND" && $8 != ""' >"$work/needed"
  [ ! -s "$work/needed" ] || fail "$library needs $(cat "$work/needed")"
done
[ -z "$(cached TRACEWELL_SANITIZE)" ] || exit 0
has "$program" 'Type: *DYN' -h
has "$program" 'Flags:.* PIE' -d
has "$program" '\(FLAGS\).*BIND_NOW|\(BIND_NOW\)' -d
has "$program" GNU_RELRO -l
has "$program" 'GNU_STACK .* RW ' -l
case $(cached CMAKE_BUILD_TYPE) in
  Rel*)
    has "$program" ' __stack_chk_fail' --dyn-syms
    has "$program" ' __[a-z]+_chk(@|$)' --dyn-syms
    ;;
esac
