/* What it takes at least to stop all threads of another program: all of them are interrupted, then
 * all are reaped. bench_live_load's peer for `stop-all`.
 *
 *   stop_all PID ROUNDS    prints the nanoseconds of each round; the program runs on in between */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 10000, kPauseUs = 100000 };

static pid_t tids[kMost];
static int count;

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static int seize_all(const char* pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/task", pid);
  DIR* const folder = opendir(path);
  if (!folder) return 0;
  struct dirent* entry;
  while ((entry = readdir(folder)) && count < kMost) {
    const pid_t tid = atoi(entry->d_name);
    if (tid <= 0) continue;
    if (ptrace(PTRACE_SEIZE, tid, 0, 0) != 0) return 0;
    tids[count++] = tid;
  }
  closedir(folder);
  return 1;
}

int main(int words_count, char** words) {
  if (words_count != 3 || !seize_all(words[1])) return 2;
  for (int rounds = atoi(words[2]); rounds > 0; --rounds) {
    usleep(kPauseUs);
    const long begin = now();
    for (int i = 0; i < count; ++i)
      if (ptrace(PTRACE_INTERRUPT, tids[i], 0, 0) != 0) return 3;
    for (int left = count; left > 0; --left) {
      int status;
      if (waitpid(-1, &status, __WALL) < 0 || !WIFSTOPPED(status)) return 4;
    }
    printf("%ld\n", now() - begin);
    fflush(stdout);
    for (int i = 0; i < count; ++i)
      if (ptrace(PTRACE_CONT, tids[i], 0, 0) != 0) return 5;
  }
  return 0; /* which lets go of all */
}
