/* What it takes at least to stop all threads of another program: all of them are interrupted, then
 * all are reaped. bench_live_load's peer for `stop-all`.
 *
 *   stop_all PID ROUNDS [each]   prints the nanoseconds of each round; it runs on in between
 *
 * To wait for any thread takes the kernel as long as there are threads. With `each` they are waited
 * for by their numbers, which takes no longer for one of many. */
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

static int reap_any(void) {
  int status;
  return waitpid(-1, &status, __WALL) > 0 && WIFSTOPPED(status);
}

static int reap_each(void) {
  static pid_t left[kMost];
  int most = count;
  for (int i = 0; i < count; ++i) left[i] = tids[i];
  while (most > 0) {
    int still = 0;
    for (int i = 0; i < most; ++i) {
      int status;
      const pid_t got = waitpid(left[i], &status, __WALL | WNOHANG);
      if (got < 0 || (got > 0 && !WIFSTOPPED(status))) return 0;
      if (got == 0) left[still++] = left[i];
    }
    most = still;
  }
  return 1;
}

int main(int words_count, char** words) {
  if (words_count < 3 || words_count > 4 || !seize_all(words[1])) return 2;
  for (int rounds = atoi(words[2]); rounds > 0; --rounds) {
    usleep(kPauseUs);
    const long begin = now();
    for (int i = 0; i < count; ++i)
      if (ptrace(PTRACE_INTERRUPT, tids[i], 0, 0) != 0) return 3;
    if (words_count > 3) {
      if (!reap_each()) return 4;
    } else {
      for (int left = count; left > 0; --left)
        if (!reap_any()) return 4;
    }
    printf("%ld\n", now() - begin);
    fflush(stdout);
    for (int i = 0; i < count; ++i)
      if (ptrace(PTRACE_CONT, tids[i], 0, 0) != 0) return 5;
  }
  return 0; /* which lets go of all */
}
