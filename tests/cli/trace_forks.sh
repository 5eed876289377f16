#!/usr/bin/env bash
# Programs with trace hooks that fork: whoever dies in the middle of a first hook holds up no fork,
# no thread is kept from its buffer by forks, and a child of vfork has none of its parent's.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
# A library whose handler comes behind that of ours, in front of fork(): an allocator's, for one.
cat >"$work/slow.c" <<'C'
#include <pthread.h>
#include <unistd.h>
__thread int slow_fork;
static void before(void) { if (slow_fork) usleep(2000); }
__attribute__((constructor(101))) static void begin(void) { pthread_atfork(before, NULL, NULL); }
C
cc -Wall -Wextra -fPIC -shared "$work/slow.c" -o "$work/libslow.so" || fail 'slow.c'
cat >"$work/forks.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/trchkid.h>
#include <sys/trcmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static void fire(int hooks)
{
  for (int i = 0; i < hooks; ++i) TRCHKL2(0x01000000, i, getpid());
}
static void fork_once(void)
{
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}

static pid_t dying;
/* The kernel ends this thread alone, where its first hook opens a file. */
static void *dies(void *unused)
{
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    exit(77);
  __atomic_store_n(&dying, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
  fire(1);
  return unused;
}

static int forking = 1;
static void *forks(void *unused)
{
  while (__atomic_load_n(&forking, __ATOMIC_RELAXED)) fork_once();
  return unused;
}
static void *fires(void *unused)
{
  fire(100);
  return unused;
}
static void burst(void)
{
  pthread_t forkers[8], threads[20];
  for (int i = 0; i < 8; ++i) pthread_create(&forkers[i], NULL, forks, NULL);
  for (int i = 0; i < 20; ++i) pthread_create(&threads[i], NULL, fires, NULL);
  for (int i = 0; i < 20; ++i) pthread_join(threads[i], NULL);
  __atomic_store_n(&forking, 0, __ATOMIC_RELAXED);
  for (int i = 0; i < 8; ++i) pthread_join(forkers[i], NULL);
}

/* What is open in a child beyond what main() had. */
extern __thread int slow_fork;
static int left_open, fired;
static void *forks_and_looks(void *unused)
{
  slow_fork = 1;
  while (__atomic_load_n(&forking, __ATOMIC_RELAXED)) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
      int more = 0;
      for (int fd = 3; fd < 64; ++fd) more += fcntl(fd, F_GETFD) != -1;
      _exit(more);
    }
    waitpid(child, &status, 0);
    __atomic_fetch_add(&left_open, status, __ATOMIC_SEQ_CST);
  }
  return unused;
}
static void *forks_and_fires(void *unused)
{
  const pid_t child = fork();
  if (child == 0) _exit(0);
  fire(1);
  waitpid(child, NULL, 0);
  __atomic_fetch_add(&fired, 1, __ATOMIC_SEQ_CST);
  pause(); /* whoever comes later would have this one's buffer */
  return unused;
}
static void descriptors(void)
{
  pthread_t forker, thread;
  for (int fd = 3; fd < 64; ++fd) close(fd);
  pthread_create(&forker, NULL, forks_and_looks, NULL);
  for (int round = 0; round < 300; ++round) {
    pthread_create(&thread, NULL, forks_and_fires, NULL);
    while (__atomic_load_n(&fired, __ATOMIC_SEQ_CST) <= round) usleep(100);
  }
  __atomic_store_n(&forking, 0, __ATOMIC_RELAXED);
  pthread_join(forker, NULL);
  if (left_open != 0) exit(78);
}

int main(int argc, char **argv)
{
  const char *const what = argc > 1 ? argv[1] : "";
  pthread_t thread;
  alarm(60);
  if (strcmp(what, "dies") == 0) {
    pthread_create(&thread, NULL, dies, NULL);
    while (__atomic_load_n(&dying, __ATOMIC_SEQ_CST) == 0 ||
           syscall(SYS_tgkill, getpid(), dying, 0) == 0)
      usleep(1000);
    for (int i = 0; i < 3; ++i) fork_once();
    fire(10);
  } else if (strcmp(what, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      fire(1);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    fire(10);
    pthread_create(&thread, NULL, fires, NULL);
    pthread_join(thread, NULL);
  } else if (strcmp(what, "descriptors") == 0) {
    descriptors();
  } else {
    burst();
  }
  printf("%d\n", getpid());
  return 0;
}
C
cc -Wall -Wextra -pthread -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/forks.c" \
  -o "$work/forks" -L"$build/lib" -lrts -L"$work" -Wl,--no-as-needed -lslow \
  -Wl,-rpath,"$build/lib:$work" || fail 'forks.c'
chmod 755 "$work"
# Root's programs have a count of their own at their begin, from which more is known.
users=('')
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups "$work/forks" vfork \
  >/dev/null 2>&1; then
  users+=(65534)
fi

for user in "${users[@]}"; do
  as=()
  home=$work/home$user
  mkdir -m 700 "$home" "$home/run"
  if [ -n "$user" ]; then
    as=(setpriv --reuid="$user" --regid="$user" --clear-groups)
    chown -R "$user" "$home"
  fi
  as+=(env XDG_RUNTIME_DIR="$home/run")
  for what in dies vfork burst descriptors; do
    "${as[@]}" "$tracewell" trace -a -o "$home/log" || fail "trace${user:+ of $user}"
    "${as[@]}" "$work/forks" $what >"$work/out" || fail "$what: it ends with $?"
    pid=$(cat "$work/out")
    "${as[@]}" "$tracewell" trcstop || fail 'trcstop'
    expect 0 check "$home/log"
    case $what in
      dies) has 'sound, 10 events' ;;
      vfork) has 'sound, 110 events' && has 'lost: 1' ;;
      burst) has 'sound, 2000 events' ;;
      descriptors) has 'sound, 300 events' ;;
    esac
    expect 0 print --format jsonl "$home/log"
    [ "$(grep '"kind":"hook"' "$work/out" | grep -vc "\"pid\":$pid[,}]")" = 0 ] ||
      fail "$what: hooks of another process"
    rm -r "$home/log"
  done
done
finish
