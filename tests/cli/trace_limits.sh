#!/usr/bin/env bash
# labels: answers
# Programs and commands that may not make large files (ulimit -f): the program runs as it would
# untraced and hears nothing of it, whatever it does with SIGXFSZ itself; what is lost is counted;
# commands and the collector say what they cannot write, or write it in several files.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log
cat >"$work/limited.c" <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/trchkid.h>
#include <unistd.h>

static volatile sig_atomic_t g_came, g_value;
static void note(int number, siginfo_t *info, void *context)
{
  (void)number, (void)context;
  ++g_came;
  g_value = info->si_value.sival_int;
}
static int waits(void)
{
  sigset_t all;
  sigpending(&all);
  return sigismember(&all, SIGXFSZ);
}
/* HOW: what the program itself makes of the signal. It says what it sees of it. */
int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "";
  const struct rlimit small = {1024, RLIM_INFINITY};
  struct sigaction action;
  const union sigval seven = {7};
  sigset_t one, mask;
  int blocked;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&one);
  sigaddset(&one, SIGXFSZ);
  if (strcmp(how, "default") != 0) sigaction(SIGXFSZ, &action, NULL);
  blocked = strncmp(how, "blocked", 7) == 0;
  if (blocked) sigprocmask(SIG_BLOCK, &one, NULL);
  if (strcmp(how, "blocked-thread") == 0) pthread_sigqueue(pthread_self(), SIGXFSZ, seven);
  if (strcmp(how, "blocked-process") == 0) sigqueue(getpid(), SIGXFSZ, seven);
  setrlimit(RLIMIT_FSIZE, &small);
  TRCHKL1(HKWD_USER1, 1);
  TRCHKL1(HKWD_USER1, 2);
  sigprocmask(SIG_BLOCK, NULL, &mask);
  if (sigismember(&mask, SIGXFSZ) != blocked) return 2;
  printf("%s: waits %d", how, waits());
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  printf(", came %d with %d\n", (int)g_came, (int)g_value);
  return 0;
}
C
cc -Wall -Wextra -pthread -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/limited.c" \
  -o "$work/limited" -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail "limited.c"
for how in default handled blocked blocked-thread blocked-process; do
  XDG_RUNTIME_DIR=/none "$work/limited" "$how" >"$work/untraced" || fail "$how, untraced"
  for mode in '' -l -f; do
    # shellcheck disable=SC2086
    trace -a $mode -o "$log" || fail "trace"
    "$work/limited" "$how" >"$work/out" 2>&1 || fail "$how: it ends with $?"
    cmp -s "$work/out" "$work/untraced" || fail "it sees: $(cat "$work/out" "$work/untraced")"
    trcstop || fail "trcstop"
    expect 0 print "$log"
    has '2 records lost: their threads could not make a ring'
  done
done

# The control file itself is made by the program that is the first.
rm -r "$work/run/tracewell"
(ulimit -f 8 && "$work/limited" default) >"$work/out" 2>&1 || fail "the first program: $?"
has 'waits 0, came 0'

# A command that may not make it, or the log, says so, and leaves nothing that is in the way.
rm -rf "$work/run/tracewell" "$log"
(ulimit -f 8 && trace -a -o "$log") >"$work/out" 2>"$work/err"
[ $? = 4 ] || fail "trace with no room for the control file: $(cat "$work/err")"
has "File too large" err
has "hooks-" err
[ -e "$log" ] && fail "a log is left"

# A collector with such a limit goes on in another file.
cat >"$work/fires.c" <<'C'
#include <sys/trchkid.h>
int main(void)
{
  int i;
  for (i = 0; i < 100000; ++i) TRCHKL5(HKWD_USER1, i, 2, 3, 4, 5);
  return 0;
}
C
cc -O2 -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail "fires.c"
(ulimit -f 1024 && trace -a -T 16m -o "$log") || fail "trace with a limit"
"$work/fires"
(ulimit -f 1024 && trcstop) || fail "trcstop with a limit"
expect 0 print --where 'kind == "hook"' "$log"
lines 100000
[ "$(find "$log" -name '[1-9]*' | wc -l)" -ge 5 ] || fail "not in several files"
finish
