#!/usr/bin/env bash
# A program that has librts more than once: in itself, and in libraries that it loads. Its hooks are
# those of one process, whichever copy has them.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
cat >"$work/library.c" <<'C'
#include <sys/trchkid.h>
void fire_in_library(int i) { TRCHKL1(0x01100000, i); }
C
cat >"$work/program.c" <<'C'
#include <dlfcn.h>
#include <sys/trchkid.h>
#include <sys/wait.h>
#include <unistd.h>
static void (*others[2])(int);
static void fire(void)
{
  for (int i = 0; i < 100; ++i) {
    TRCHKL1(0x01000000, i);
    others[0](i);
    others[1](i);
  }
}
int main(int argc, char **argv)
{
  for (int i = 0; i < 2; ++i) {
    void *const library = dlopen(argv[i + 1], RTLD_NOW);
    if (!library || argc != 3) return 2;
    *(void **)&others[i] = dlsym(library, "fire_in_library");
  }
  fire();
  if (fork() == 0) {
    fire();
    _exit(0);
  }
  wait(NULL);
  fire();
  return 0;
}
C
flags="-Wall -Wextra -fPIC -I$TRACEWELL_SOURCE/include/tracewell/aix"
# shellcheck disable=SC2086
cc $flags -shared "$work/library.c" -o "$work/own.so" "$build/lib/librts.a" &&
  cc $flags -shared "$work/library.c" -o "$work/common.so" -L"$build/lib" -lrts \
    -Wl,-rpath,"$build/lib" &&
  cc $flags "$work/program.c" -o "$work/program" "$build/lib/librts.a" -ldl -pthread ||
  fail 'the program'
trace -a -o "$work/log" || fail 'trace'
"$work/program" "$work/own.so" "$work/common.so" || fail "it ends with $?"
trcstop || fail 'trcstop'
expect 0 check --strict "$work/log"
has 'sound, 900 events'
expect 0 print --format jsonl "$work/log"
[ "$(grep -o '"pid":[0-9]*' "$work/out" | sort -u | wc -l)" = 2 ] || fail 'not two processes'
finish
