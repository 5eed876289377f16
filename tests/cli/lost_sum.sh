#!/bin/bash
# What trcstop says of hooks that found no room, when a process tells any number of its own: that of
# another program is told all the same.
. "${BASH_SOURCE%/*}/common.sh"
. "${BASH_SOURCE%/*}/hooks_common.sh"

# lies [COUNT]: the hooks that do not fit; with a number, its ring says that it lost so many.
cat >"$work/lies.c" <<'C'
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/trchkid.h>
#include <tracewell/hook_layout.h>
int main(int argc, char **argv) {
  char line[512];
  FILE *maps;
  int i;
  for (i = 0; i < (argc > 1 ? 1 : 100000); ++i) TRCHKL1(HKWD_USER1, i);
  if (argc < 2) return 0;
  maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    const unsigned long at = strtoul(line, NULL, 16);
    if (strstr(line, "/.rings/") && strstr(line, "rw-s"))
      *(volatile uint64_t *)(at + offsetof(struct tracewell_ring, lost)) = strtoull(argv[1], 0, 0);
  }
  return 0;
}
C
cc -I"$TRACEWELL_SOURCE/include" -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/lies.c" \
  -o "$work/lies" -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail 'lies.c'

session() {  # COUNT…: what rings say
  rm -rf "$work/log"
  expect 0 trace -a -f -T 256k -o "$work/log"
  "$work/lies"
  for count; do "$work/lies" "$count"; done
  expect 0 trcstop
}
session
lost=$(grep -o '[0-9]* hooks found no room' "$work/err" | grep -o '^[0-9]*')
[ "${lost:-0}" -gt 1000 ] || fail "hooks that found no room: $(cat "$work/err")"
for count in -"$lost" -$((lost - 1)) -1; do
  session "$count"
  has "$lost hooks and more found no room" err
done
finish
