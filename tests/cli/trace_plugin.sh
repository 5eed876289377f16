#!/usr/bin/env bash
# A plugin with hooks that is loaded and unloaded again and again: nothing grows by that, and each
# hook is in the log.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
cat >"$work/plugin.c" <<'C'
#include <sys/trchkid.h>
void fire(int i) { TRCHKL1(0x01000000, i); }
C
cat >"$work/host.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static int mappings(void)
{
  int lines = 0, c;
  FILE *const maps = fopen("/proc/self/maps", "r");
  while ((c = getc(maps)) != EOF) lines += c == '\n';
  fclose(maps);
  return lines;
}
int main(int argc, char **argv)
{
  int first = 0;
  for (int i = 0; i < 200; ++i) {
    void *const plugin = dlopen(argv[argc - 1], RTLD_NOW);
    if (!plugin) return 2;
    void (*fire)(int);
    *(void **)&fire = dlsym(plugin, "fire");
    fire(i);
    dlclose(plugin);
    if (i == 10) first = mappings();
  }
  if (dlopen(argv[argc - 1], RTLD_NOW | RTLD_NOLOAD)) return 3; /* it is unloaded */
  printf("%d more\n", mappings() - first);
  return mappings() - first > 5;
}
C
cc -Wall -Wextra -fPIC -shared -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/plugin.c" \
  -o "$work/plugin.so" -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail 'plugin.c'
cc -Wall -Wextra "$work/host.c" -o "$work/host" -ldl || fail 'host.c'
"$work/host" "$work/plugin.so" || fail 'without a trace'
trace -a -o "$work/log" || fail 'trace'
"$work/host" "$work/plugin.so" || fail "it ends with $?"
[ "$(ls "$work/log/.rings" | wc -l)" -le 1 ] || fail 'it has several buffers'
trcstop || fail 'trcstop'
expect 0 check --strict "$work/log"
has 'sound, 200 events'
finish
