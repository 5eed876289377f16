// Trace hooks in processes that fork, threads that end, and handlers that do not return.
// libs: -lrts
//
//   hook_lives fork|clone|vfork|vfork-first|threads|heir|poor-heir|handler|nested|jump|exec|errno|
//              pauses
// Hook 0100 with a number that says who fired it.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/trchkid.h>
#include <sys/wait.h>
#include <unistd.h>

static void fire(unsigned long who, int times) {
  for (int i = 0; i < times; ++i) TRCHKL2(HKWD_USER1, who, i);
}

static pid_t last_thread;

static void* short_life(void* who) {
  last_thread = (pid_t)syscall(SYS_gettid);
  fire((unsigned long)who, 10);
  return NULL;
}

// A little less than a ring of 64 KiB has room for.
static void* long_life(void* who) {
  last_thread = (pid_t)syscall(SYS_gettid);
  fire((unsigned long)who, 2200);
  return NULL;
}

// A thread that was joined is there for a moment still, and its ring with it.
static void see_off(pthread_t thread) {
  pthread_join(thread, NULL);
  while (syscall(SYS_tgkill, getpid(), last_thread, 0) == 0) sched_yield();
}

static void on_signal(int signal) {
  (void)signal;
  fire(3, 5000);  // more than the ring has room for
}

// Each signal's handler is interrupted by the next one's; who = how deep.
static void on_nested(int signal) {
  const unsigned long depth = (unsigned long)(signal - SIGRTMIN) + 1;
  fire(depth, 10);
  if (depth < 8) raise(signal + 1);
  fire(depth, 10);
}

static sigjmp_buf g_out;
static void on_jump(int signal) {
  (void)signal;
  fire(3, 1);
  siglongjmp(g_out, 1);
}

static void wait_for(long child) {
  int status = 0;
  if (waitpid((pid_t)child, &status, __WALL) != child || status != 0) exit(1);
}

static int run(const char* what, char** argv) {
  if (strcmp(what, "fork") == 0 || strcmp(what, "clone") == 0) {
    fire(1, 10);
    const long child = *what == 'f' ? fork() : syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
      fire(2, 10);
      _exit(0);
    }
    fire(1, 10);
    wait_for(child);
    return child < 0;
  }
  if (strcmp(what, "vfork") == 0 || strcmp(what, "vfork-first") == 0) {
    pthread_t thread;
    // The child is in our memory, and on our stack, until it is another program.
    if (what[5] == 0) fire(1, 10);
    else if (pthread_create(&thread, NULL, short_life, (void*)5) != 0 ||
             pthread_join(thread, NULL) != 0) return 1;
    const pid_t child = vfork();
    if (child == 0) {
      fire(2, 10);
      execl(argv[0], argv[0], "errno", NULL);
      _exit(127);
    }
    fire(1, 10);
    wait_for(child);
    return child < 0;
  }
  if (strcmp(what, "nested") == 0) {
    for (int i = 0; i < 8; ++i) signal(SIGRTMIN + i, on_nested);
    for (int i = 0; i < 100; ++i) {
      fire(0, 1);
      raise(SIGRTMIN);
    }
    return 0;
  }
  if (strcmp(what, "threads") == 0) {
    for (unsigned long i = 0; i < 200; ++i) {
      pthread_t thread;
      if (pthread_create(&thread, NULL, short_life, (void*)i) != 0) return 1;
      see_off(thread);
    }
    return 0;
  }
  if (strcmp(what, "heir") == 0 || strcmp(what, "poor-heir") == 0) {
    for (unsigned long i = 0; i < 2; ++i) {
      pthread_t thread;
      const struct rlimit none = {3, 3};
      if (i == 1 && what[0] == 'p' && setrlimit(RLIMIT_NOFILE, &none) != 0) return 1;
      if (pthread_create(&thread, NULL, i == 0 ? short_life : long_life, (void*)i) != 0) return 1;
      see_off(thread);
    }
    return 0;
  }
  if (strcmp(what, "handler") == 0) {
    signal(SIGUSR1, on_signal);
    fire(1, 1);
    raise(SIGUSR1);
    fire(2, 1);
    return 0;
  }
  if (strcmp(what, "jump") == 0) {
    signal(SIGUSR1, on_jump);
    for (volatile int i = 0; i < 100; ++i)
      if (sigsetjmp(g_out, 1) == 0) raise(SIGUSR1);
    fire(2, 1);
    return 0;
  }
  if (strcmp(what, "pauses") == 0) {
    for (int i = 0; i < 20; ++i) {
      fire(1, 300);
      raise(SIGSTOP);
    }
    return 0;
  }
  if (strcmp(what, "exec") == 0) {
    fire(1, 3);
    execl(argv[0], argv[0], "errno", NULL);
  }
  if (strcmp(what, "errno") == 0) {
    errno = ENOTTY;
    fire(4, 3000);
    return errno != ENOTTY;
  }
  return 2;
}

int main(int argc, char** argv) { return argc == 2 ? run(argv[1], argv) : 2; }
