// Its first thread ends at once; of the others one becomes the same program again, soon. Meanwhile
// they fork.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char **arguments;
static char path[4096];  // /proc/self/exe is the leader's, and gone with it

static void *again(void *unused) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  usleep((now.tv_nsec >> 10) % 8000);
  execv(path, arguments);
  _exit(1);
  return unused;
}

static void *forks(void *unused) {
  for (;;) {
    if (fork() == 0) _exit(0);
    usleep(2000);
  }
  return unused;
}

// Of all programs that it becomes, together.
static void end_some_time(void) {
  const unsigned left = alarm(100);
  if (left != 0) alarm(left);
}

int main(int argc, char **argv) {
  pthread_t thread;
  (void)argc;
  end_some_time();
  arguments = argv;
  if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return 1;
  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 4; ++i) pthread_create(&thread, 0, i % 2 ? again : forks, 0);
  pthread_exit(0);
}
