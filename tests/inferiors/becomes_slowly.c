// Calls exec while another of its threads cannot end: a helper process traces that one, and lets it
// go when it gets SIGUSR1, or with its own end. The program that it becomes ends with status 7 when
// standard input does. Its first line names the helper.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile pid_t other;

static void *waits(void *unused) {
  (void)unused;
  other = (pid_t)syscall(SYS_gettid);
  for (;;) pause();
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  int ready[2];
  char byte = 0;
  if (argc > 1) {
    while (read(0, &byte, 1) > 0) continue;
    return 7;
  }
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  if (pthread_create(&thread, 0, waits, 0) != 0 || pipe2(ready, O_CLOEXEC) != 0) return 2;
  while (other == 0) usleep(1000);
  const pid_t helper = fork();
  if (helper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ptrace(PTRACE_SEIZE, other, 0, PTRACE_O_TRACEEXIT) != 0) _exit(1);
    if (write(ready[1], "x", 1) != 1) _exit(2);
    for (;;) pause();
  }
  if (read(ready[0], &byte, 1) != 1) return 3;
  printf("%d\n", (int)helper);
  fflush(stdout);
  execl("/proc/self/exe", argv[0], "again", (char *)0);
  return 4;
}
