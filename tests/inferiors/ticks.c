// ticks [pause US]: prints the address of tick() and calls it all the time, or with pauses, until
// SIGUSR1 comes: status 7.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t ends;
static volatile unsigned long count;

static void on_signal(int number) {
  (void)number;
  ends = 1;
}

__attribute__((noinline)) void tick(long number) {
  __asm__ volatile("nop;nop;nop;nop;nop;nop;nop;nop" : : "r"(number) : "memory");
  ++count;
}

int main(int count_of_words, char **words) {
  const int pauses = count_of_words > 2 && strcmp(words[1], "pause") == 0;
  const useconds_t pause_us = pauses ? (useconds_t)atoi(words[2]) : 0;
  signal(SIGUSR1, on_signal);
  printf("%lx\n", (unsigned long)tick);
  fflush(stdout);
  alarm(90);
  for (long number = 0; !ends; ++number) {
    tick(number);
    if (pause_us != 0) usleep(pause_us);
  }
  return count > 0 ? 7 : 8;
}
