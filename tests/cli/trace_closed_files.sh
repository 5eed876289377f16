#!/usr/bin/env bash
# A program that closes all descriptors, also those that it does not know, while other threads of it
# have first hooks: what it opens then by the same numbers is not written to.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
cat >"$work/closes.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/trchkid.h>
#include <unistd.h>
static volatile int done;
static void *hooks(void *word) { TRCHKL1(HKWD_USER1, (unsigned long)word); return 0; }
static void *closes(void *name)
{
  for (unsigned round = 0; !done; ++round) {
    syscall(SYS_close_range, 3u, ~0u, 0u);
    open(name, O_RDWR);
    for (int i = 0; i < 200; ++i) __asm__ volatile("pause");
    if (round % 64 == 0) usleep(1);
  }
  return 0;
}
int main(int argc, char **argv)
{
  pthread_t one, other;
  if (argc < 2) return 2;
  pthread_create(&one, 0, closes, argv[1]);
  for (long i = 0; i < 6000; ++i)
    if (pthread_create(&other, 0, hooks, (void *)i) == 0) pthread_join(other, 0);
  done = 1;
  return pthread_join(one, 0);
}
C
cc -O1 -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/closes.c" -o "$work/closes" \
  -L"$build/lib" -lrts -lpthread -Wl,-rpath,"$build/lib" || fail 'closes.c'
printf 'five.' >"$work/own"
for _ in 1 2 3 4; do
  rm -rf "$work/log"
  expect 0 trace -a -f -o "$work/log"
  timeout 60 "$work/closes" "$work/own" || fail "the program: status $?"
  "$tracewell" trcstop >"$work/out" 2>"$work/err" # how many found no room
  printf 'five.' | cmp -s - "$work/own" || fail "the program's file is written to"
  expect 0 check "$work/log"
done
finish
