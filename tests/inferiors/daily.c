// What a debugger is used for from day to day: breakpoints that are hit often, system calls,
// threads that come and go, thread-local variables. Its first argument says what it does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 500 };

char* name = "world";
char* nothing;
unsigned char byte = 200;
short small = -3;
long wide = -5;
long long wider = 1234567890123;
char letter = 'x';
struct {
  int x, y;
} point = {3, 4};
volatile long total;
volatile int handled;
static pthread_barrier_t barrier;
__thread int own = 17;
static __thread long zeroed;

__attribute__((noinline)) long work(int i) {
  long result = i * 2; /* work */
  result += point.x;   /* second */
  result += point.y;   /* third */
  result += byte;      /* fourth */
  result += small;     /* fifth */
  return result;       /* sixth */
}

static int loops(void) {
  for (int i = 0; i < 20; ++i) total += work(i);
  return (int)(total % 100); /* looped */
}

static void on_signal(int number) {
  __atomic_add_fetch(&handled, number > 0, __ATOMIC_RELAXED);
}

/// Signals arrive at breakpoints as well.
static void* thread_main(void* argument) {
  char called[16];
  snprintf(called, sizeof called, "worker %ld", (long)argument);
  pthread_setname_np(pthread_self(), called);
  own += (int)(long)argument;
  zeroed = (long)argument * 10;
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < kRounds; ++i) {
    __atomic_add_fetch(&total, work(i), __ATOMIC_RELAXED);
    if (i % 50 == 0) raise(SIGUSR1);
  }
  return NULL;
}

static int threads(void) {
  pthread_t all[kThreads];
  signal(SIGUSR1, on_signal);
  pthread_barrier_init(&barrier, NULL, kThreads + 1);
  for (long i = 0; i < kThreads; ++i) pthread_create(&all[i], NULL, thread_main, (void*)(i + 1));
  pthread_barrier_wait(&barrier);
  own = 5; /* started */
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < kThreads; ++i) pthread_join(all[i], NULL);
  return (int)(total % 100); /* joined */
}

/// Main and the first thread use a library that is loaded when all run; the second does not.
static int* (*library_own)(void);
static void* locals_main(void* argument) {
  own += (int)(long)argument;
  zeroed = (long)argument * 10;
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  if ((long)argument == 1) *library_own() += 1;
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return NULL;
}

static int locals(const char* self) {
  pthread_t all[2];
  char path[4096];
  pthread_barrier_init(&barrier, NULL, 3);
  for (long i = 0; i < 2; ++i) pthread_create(&all[i], NULL, locals_main, (void*)(i + 1));
  pthread_barrier_wait(&barrier);
  snprintf(path, sizeof path, "%.*s/libdaily.so", (int)(strrchr(self, '/') - self), self);
  void* library = dlopen(path, RTLD_NOW); /* before */
  library_own = (int* (*)(void))dlsym(library, "library_own");
  *library_own() += 100;
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  own = 5; /* loaded */
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 2; ++i) pthread_join(all[i], NULL);
  return 6;
}

/// Each once: by the C library, and by an instruction of our own.
static int calls(void) {
  long result = 0;
  syscall(SYS_getppid);
  syscall(SYS_getuid);
  __asm__ volatile(".globl own_call\nown_call: syscall"
                   : "=a"(result)
                   : "0"(SYS_getgid)
                   : "rcx", "r11", "memory");
  syscall(SYS_getpriority, 99, 0); /* fails */
  return 3; /* called */
}

static int signals(void) {
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1); /* raised */
  printf("handled %d\n", handled);
  return handled;
}

/// The child has what is caught from its parent.
static int forks(void) {
  const pid_t child = fork();
  if (child == 0) {
    syscall(SYS_getuid);
    work(7);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  syscall(SYS_getuid);
  return 4;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  total = 1; /* start */
  if (strcmp(how, "loops") == 0) return loops();
  if (strcmp(how, "threads") == 0) return threads();
  if (strcmp(how, "locals") == 0) return locals(argv[0]);
  if (strcmp(how, "stays") == 0) return threads() + pause();
  if (strcmp(how, "signals") == 0) return signals();
  if (strcmp(how, "calls") == 0) return calls();
  if (strcmp(how, "forks") == 0) return forks();
  return 0;
}
