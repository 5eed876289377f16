// One thread calls hit() all the time, another one queues SIGSEGV with a value for it
// (sigqueue(3)). Ends when standard input does, with 0 if each of them came as it was sent. Says
// "ready" first.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { kValue = 12345 };
static volatile long sent, came, others;
static volatile int ends;
volatile long hits;

__attribute__((noinline)) void hit(void) {
  ++hits;
  __asm__ volatile("nop; nop; nop; nop; nop");
}

static void on_signal(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  if (info->si_code == SI_QUEUE && info->si_value.sival_int == kValue && info->si_pid == getpid())
    ++came;
  else
    ++others;
}

static void *calls(void *unused) {
  while (!ends) hit();
  return unused;
}

int main(void) {
  struct sigaction action = {0};
  struct pollfd end = {0, POLLIN, 0};
  const union sigval value = {.sival_int = kValue};
  pthread_t thread;
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  pthread_create(&thread, NULL, calls, NULL);
  printf("ready\n");
  fflush(stdout);
  while (poll(&end, 1, 0) == 0) {
    const long before = came + others;
    pthread_sigqueue(thread, SIGSEGV, value);
    for (++sent; came + others == before;) usleep(100);
  }
  ends = 1;
  pthread_join(thread, NULL);
  if (others != 0) fprintf(stderr, "%ld of %ld were others\n", others, sent);
  return others != 0;
}
