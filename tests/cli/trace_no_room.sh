#!/usr/bin/env bash
# A thread that has no descriptor, or no memory, at its first hook of a trace: these hooks are
# counted, and later ones are recorded.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
cat >"$work/short.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/trchkid.h>
#include <sys/trcmacros.h>
#include <unistd.h>

static rlim_t mapped_bytes(void)
{
  unsigned long pages = 0;
  FILE *const about = fopen("/proc/self/statm", "r");
  if (!about || fscanf(about, "%lu", &pages) != 1) exit(77);
  fclose(about);
  return pages * 4096;
}
static void fire(int hooks)
{
  for (int i = 0; i < hooks; ++i) TRCHKL1(0x01000000, i);
}
/* WHAT (descriptors) or KiB of memory: as much as there is at first. */
int main(int argc, char **argv)
{
  const int what = strcmp(argv[1], "descriptors") == 0 ? RLIMIT_NOFILE : RLIMIT_AS;
  struct rlimit before, few;
  if (argc != 2 || getrlimit(what, &before) != 0) return 77;
  few = before;
  few.rlim_cur = what == RLIMIT_NOFILE ? 0 : mapped_bytes() + strtoul(argv[1], NULL, 10) * 1024;
  if (setrlimit(what, &few) != 0) return 77;
  fire(10);
  if (setrlimit(what, &before) != 0) return 77;
  usleep(100000); /* longer than the thread waits before it looks again */
  fire(1);
  fire(100);
  return 0;
}
C
cc -Wall -Wextra -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/short.c" -o "$work/short" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail 'short.c'
# Of so much memory, what the first hook asks for one after the other finds more and more.
for what in descriptors 0 16 64 128 256 512 1024 2048 4096 8192 16384 32768; do
  trace -a -o "$work/log" || fail 'trace'
  "$work/short" $what || fail "$what: it ends with $?"
  trcstop || fail 'trcstop'
  expect 0 check "$work/log"
  events=$(sed -n 's/.*sound, \([0-9]*\) events.*/\1/p' "$work/out")
  lost=$(sed -n 's/.*lost: \([0-9]*\).*/\1/p' "$work/out")
  [ $((events + ${lost:-0})) = 111 ] || fail "$what: $events events, ${lost:-0} lost, of 111"
  [ "$events" -ge 100 ] || fail "$what: $events events"
  rm -r "$work/log"
done
finish
