// Two threads that register their first components together.
// libs: -lrts
//
//   component_threads ROUNDS
// A process for each round: 0 if each thread has its component, and both are where ctctrl looks.
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ras_trace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracewell/hook_layout.h>

static const char* const kNames[] = {"one", "two"};
static pthread_barrier_t g_start;
static ras_block_t g_blocks[2];

static void* enrol(void* number) {
  pthread_barrier_wait(&g_start);
  g_blocks[(size_t)number] = tracewell_component_register(kNames[(size_t)number], NULL, NULL);
  return NULL;
}

/// Is there a page for each in this process's file, as ctctrl reads it?
static int is_seen(const char* name) {
  char path[4096];
  static struct tracewell_component page;
  int seen = 0;
  glob_t found;
  snprintf(path, sizeof path, "%s/tracewell/" TRACEWELL_COMPONENTS_NAME "/%d-*[0-9]",
           getenv("XDG_RUNTIME_DIR"), getpid());
  const int fd = glob(path, 0, NULL, &found) == 0 && found.gl_pathc == 1
                     ? open(found.gl_pathv[0], O_RDONLY)
                     : -1;
  for (off_t at = 0; fd >= 0 && pread(fd, &page, sizeof page, at) == (ssize_t)sizeof page;
       at += TRACEWELL_HOOK_PAGE)
    seen += page.used == TRACEWELL_COMPONENT_USED && strcmp(page.name, name) == 0;
  if (fd >= 0) close(fd);
  return seen == 1;
}

static int live(void) {
  pthread_t threads[2];
  pthread_barrier_init(&g_start, NULL, 2);
  for (size_t i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, enrol, (void*)i);
  for (size_t i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  for (size_t i = 0; i < 2; ++i)
    if (!g_blocks[i] || !is_seen(kNames[i])) return 1;
  return !is_seen("common") || !is_seen("rare");
}

int main(int argc, char** argv) {
  int failed = 0;
  const int rounds = argc == 2 ? atoi(argv[1]) : 0;
  for (int i = 0; i < rounds; ++i) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) exit(live());
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  printf("%d of %d\n", failed, rounds);
  return failed != 0;
}
