#!/usr/bin/env bash
# libtracewell-agent.so, and the same under the name that GDB's testsuite links: they need nothing,
# and programs that are linked with them run as they did.
. "$(dirname "$0")/common.sh"

lib=$(dirname "$TRACEWELL_BIN")/lib
echo 'int main(void) { return 7; }' >"$work/program.c"
for name in tracewell-agent inproctrace; do
  library=$lib/lib$name.so
  [ -z "$(nm -D -u "$library")" ] || fail "lib$name.so needs $(nm -D -u "$library")"
  [ "$(nm -D --defined-only "$library" | awk '{print $3}')" = tracewell_agent ] ||
    fail "what is in lib$name.so"
  readelf -d "$library" >"$work/out"
  has "soname: [lib$name.so]"
  ! grep -q NEEDED "$work/out" || fail "lib$name.so needs libraries"
  cc "$work/program.c" -Wl,--no-as-needed "$library" -Wl,-rpath,"$lib" -o "$work/program"
  "$work/program"
  [ $? = 7 ] || fail "a program with lib$name.so"
done
finish
