// Fires trace hooks in many threads until somebody kills it, and keeps count in a shared file.
// build: -O2
// libs: -lrts
//
//   hook_hammer COUNTS THREADS HOOKS MICROSECONDS
// HOOKS a thread, 0 = without end. With MICROSECONDS, a timer interrupts each thread so often, and
// its handler fires hooks too. COUNTS: for each thread struct counts, stored before and after each
// hook.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/trchkid.h>
#include <time.h>
#include <unistd.h>

struct counts {
  uint64_t tid;
  uint64_t begun, done;                  // hook 0100, d1 = number
  uint64_t handler_begun, handler_done;  // hook 0200
};

static struct counts* g_counts;
static __thread struct counts* t_counts;
static uint64_t g_hooks;
static long g_threads, g_ready;
static long g_microseconds;

static void on_timer(int signal) {
  struct counts* const mine = t_counts;
  (void)signal;
  if (!mine) return;
  for (int i = 0; i < 3; ++i) {
    const uint64_t number = __atomic_fetch_add(&mine->handler_begun, 1, __ATOMIC_RELAXED);
    TRCHKL2T(HKWD_USER2, number, i);
    __atomic_fetch_add(&mine->handler_done, 1, __ATOMIC_RELAXED);
  }
}

static void start_timer(void) {
  struct sigevent event;
  struct itimerspec interval = {{0, g_microseconds * 1000}, {0, g_microseconds * 1000}};
  timer_t timer;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR1;
  event._sigev_un._tid = (int)t_counts->tid;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) abort();
  timer_settime(timer, 0, &interval, NULL);
}

static void* hammer(void* argument) {
  struct counts* const mine = g_counts + (uintptr_t)argument;
  char text[40];
  mine->tid = (uint64_t)syscall(SYS_gettid);
  t_counts = mine;
  if (g_microseconds) start_timer();
  // All at once: what is done at a process's first hook is done by several.
  __atomic_fetch_add(&g_ready, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&g_ready, __ATOMIC_RELAXED) < g_threads) sched_yield();
  memset(text, 'x', sizeof text);
  for (uint64_t number = 0; g_hooks == 0 || number < g_hooks; ++number) {
    __atomic_store_n(&mine->begun, number + 1, __ATOMIC_RELAXED);
    if (number % 16 == 15)
      TRCGEN(0, HKWD_USER1, number, number / 16 % sizeof text, text);
    else
      TRCHKL5(HKWD_USER1 | 5, number, 2, 3, 4, 5);
    __atomic_store_n(&mine->done, number + 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

int main(int argc, char** argv) {
  struct sigaction action;
  pthread_t threads[64];
  if (argc != 5) return 2;
  const long count = atol(argv[2]);
  const int fd = open(argv[1], O_RDWR);
  g_counts = mmap(NULL, 64 * sizeof *g_counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || g_counts == MAP_FAILED || count < 1 || count > 64) return 2;
  g_threads = count;
  g_hooks = strtoull(argv[3], NULL, 10);
  g_microseconds = atol(argv[4]);
  memset(&action, 0, sizeof action);
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  for (long i = 0; i < count; ++i)
    pthread_create(&threads[i], NULL, hammer, (void*)(uintptr_t)i);
  for (long i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  return 0;
}
