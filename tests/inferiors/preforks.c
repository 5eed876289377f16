// preforks [outlive]: a server that forks its workers: calls work() a thousand times a second, and
// with each byte from standard input forks a worker, whose process id it prints, and which does the
// same until it is killed. It dies with the server, but with `outlive`.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

volatile long done;

__attribute__((noinline)) void work(void) { done = done + 1; }

int main(int count, char** words) {
  (void)words;
  char byte;
  fcntl(0, F_SETFL, O_NONBLOCK);
  for (;;) {
    work();
    usleep(1000);
    if (read(0, &byte, 1) != 1) continue;
    const pid_t worker = fork();
    if (worker == 0) {
      if (count == 1) prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) {
        work();
        usleep(1000);
      }
    }
    printf("%d\n", worker);
    fflush(stdout);
  }
}
