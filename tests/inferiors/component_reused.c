// A process that has the number of one which registered components, and is its descendant: it
// registers components of its own, also where its ancestor was forked in the middle of that.
// libs: -lrts
//
//   component_reused ROUNDS
// 0: all went well; 77: this user may not choose numbers of processes.
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ras_trace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tracewell/hook_layout.h>

enum { kUnable = 77, kTick = 20000000 /* ns; more than one of the system's */, kLimit = 20000 };

/// Since when it runs, as /proc has it.
static uint32_t start(void) {
  char text[1024] = "";
  FILE* const file = fopen("/proc/self/stat", "r");
  const size_t got = fread(text, 1, sizeof text - 1, file);
  char* at = memrchr(text, ')', got);
  fclose(file);
  for (int field = 2; field < 22; ++field) at = strchr(at + 1, ' ');
  return (uint32_t)strtoull(at, NULL, 10);
}

static int files(void) {
  char path[4096];
  glob_t found;
  snprintf(path, sizeof path, "%s/tracewell/" TRACEWELL_COMPONENTS_NAME "/%d-*[0-9]",
           getenv("XDG_RUNTIME_DIR"), getpid());
  return glob(path, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
}

static void* enrol(void* unused) {
  for (;;) tracewell_component_unregister(tracewell_component_register("part", NULL, NULL));
  return unused;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/// The descendant.
static int reused(uint32_t before) {
  const int there = files();
  const ras_block_t block = tracewell_component_register("heir", NULL, NULL);
  if (!block || block->start == before || block->start != start()) return 2;
  return files() == there + 1 ? 0 : 3;
}

/// Its exit status; 124 where it does not end, however it is asked.
static int wait_for(pid_t child) {
  int status = 0;
  for (int i = 0; waitpid(child, &status, WNOHANG) == 0; ++i) {
    if (i == kLimit) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return 124;
    }
    usleep(1000);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int take_number(pid_t number, uint32_t before) {
  struct clone_args how = {0};
  long child;
  how.exit_signal = SIGCHLD;
  how.set_tid = (uintptr_t)&number;
  how.set_tid_size = 1;
  /* It is free a moment after its process has been waited for. */
  do child = syscall(SYS_clone3, &how, sizeof how);
  while (child < 0 && errno == EEXIST);
  if (child == 0) _exit(reused(before));
  if (child < 0) return errno == EPERM || errno == ENOSYS ? kUnable : 4;
  return wait_for((pid_t)child);
}

/// The ancestor: it ends, and `ended` hears how its child did.
static void ancestor(int ended, int in_the_middle) {
  const int64_t begun = now_ns();
  const pid_t self = getpid();
  const uint32_t before = start();
  pthread_t thread;
  if (!tracewell_component_register("first", NULL, NULL)) _exit(1);
  if (in_the_middle && pthread_create(&thread, NULL, enrol, NULL) != 0) _exit(1);
  while (now_ns() - begun < kTick) sched_yield();
  if (fork() != 0) _exit(0);
  const char result = (char)take_number(self, before);
  _exit(write(ended, &result, 1) == 1 ? 0 : 1);
}

static int live(int in_the_middle) {
  int ends[2];
  char result = 1;
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) ancestor(ends[1], in_the_middle);
  close(ends[1]);
  waitpid(child, NULL, 0);
  if (read(ends[0], &result, 1) != 1) result = 1;
  close(ends[0]);
  return result;
}

int main(int argc, char** argv) {
  const int rounds = argc == 2 ? atoi(argv[1]) : 0;
  for (int i = 0; i < rounds; ++i) {
    const int result = live(i % 2);
    if (result != 0) return result;
  }
  return 0;
}
