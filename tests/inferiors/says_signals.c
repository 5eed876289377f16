// says_signals: calls place() ten times a second. For each SIGUSR1, SIGCONT and SIGRTMIN a line:
// its number, how it was sent, by whom, with which value.
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static void say(int number, siginfo_t* signal, void* context) {
  char line[100];
  (void)context;
  const int size = snprintf(line, sizeof line, "%d %d %d %d\n", number, signal->si_code,
                            (int)signal->si_pid, signal->si_value.sival_int);
  if (write(1, line, (size_t)size) != size) _exit(1);
}

__attribute__((noinline)) void place(long turn) { __asm__ volatile("" ::"r"(turn) : "memory"); }

int main(void) {
  struct sigaction action = {.sa_sigaction = say, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGRTMIN, &action, NULL);
  sigaction(SIGCONT, &action, NULL);
  for (long turn = 0;; ++turn) {
    place(turn);
    poll(NULL, 0, 100);
  }
}
