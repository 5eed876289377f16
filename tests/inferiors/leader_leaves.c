// The first thread ends when a line comes, another one goes on to call hit() until standard input
// ends, and so does the program then. It handles SIGSEGV, so that its memory is read by calls. Says
// "ready" first.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

volatile int global = 0x11223344;
volatile long hits;

__attribute__((noinline)) void hit(void) {
  ++hits;
  __asm__ volatile("nop; nop; nop; nop; nop");
}

static void on_fault(int signal) { _exit(signal); }

static void *calls(void *unused) {
  for (;;) {
    hit();
    usleep(1000);
  }
  return unused;
}

static void *reads(void *unused) {
  while (getchar() != EOF) continue;
  exit(0);
  return unused;
}

int main(void) {
  pthread_t one, other;
  signal(SIGSEGV, on_fault);
  pthread_create(&one, NULL, calls, NULL);
  printf("ready\n");
  fflush(stdout);
  while (getchar() != '\n') continue;
  pthread_create(&other, NULL, reads, NULL);
  pthread_exit(NULL);
}
