// A program with trace hooks that gives up its rights, where it has any, and keeps what it has
// mapped of the files that programs and commands share.
// libs: -lrts
//
//   fewer_rights protect|remap|forge|lose|lose-early
// protect: tries to make writable what programs only read. 0: it cannot.
// remap: has each page of a file that programs write to in place of another, and clears it.
// forge: writes over all of the page in which programs count what they lose.
// lose: fires a hook before, and ten of a thread that begins after it, which can make no ring.
// lose-early: the same without a hook before.
// lose-worker: the same as lose, and what it has forked before writes over all counts afterwards.
// 0: the page of its own is none of these.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/trchkid.h>
#include <sys/wait.h>
#include <tracewell/hook_losses.h>
#include <unistd.h>

enum { kOther = 65534, kReadMappings = 2 };

static void* fire_ten(void* unused) {
  for (int i = 0; i < 10; ++i) TRCHKL1(HKWD_USER1, i);
  return unused;
}

static int protect(void* at, size_t bytes) {
  if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) return errno != EACCES;
  for (unsigned i = 0; i < TRACEWELL_HOOK_CHANNELS; ++i) *((uint32_t*)at + i) = 0;
  return 1;
}

/// The kernel writes, since a page may be beyond the file's end.
static int remap(void* at) {
  const int zeros = open("/dev/zero", O_RDONLY);
  for (size_t page = 0; page < TRACEWELL_CONTROL_BYTES / TRACEWELL_HOOK_PAGE; ++page)
    if (remap_file_pages(at, TRACEWELL_HOOK_PAGE, 0, page, 0) == 0 &&
        read(zeros, at, TRACEWELL_HOOK_PAGE) < 0 && errno != EFAULT)
      return 1;
  return zeros < 0;
}

static void forge(struct tracewell_failures* page) {
  memset(page, 0, sizeof *page);
  for (unsigned i = 0; i < TRACEWELL_HOOK_CHANNELS; ++i)
    strcpy(page->why[i], "\033[31mit was removed\n");
}

/// In the worker, once it is told to: 1 where it has its parent's own page.
static int clear_counts(int begin) {
  char line[4096];
  char byte;
  int seen = 0;
  FILE* maps;
  if (geteuid() == 0 && setresuid(kOther, kOther, kOther) != 0) return 2;
  if (read(begin, &byte, 1) != 1 || !(maps = fopen("/proc/self/maps", "r"))) return 3;
  while (fgets(line, sizeof line, maps)) {
    unsigned long at, end;
    if (!strstr(line, " rw-s ") || sscanf(line, "%lx-%lx", &at, &end) != 2) continue;
    if (strstr(line, "/" TRACEWELL_LOSSES_NAME "/")) seen = 1;
    if (seen || strstr(line, "/" TRACEWELL_FAILURES_NAME "-")) memset((void*)at, 0, end - at);
  }
  return seen;
}

static int lose_ten(void) {
  pthread_t thread;
  if (geteuid() == 0 && setresuid(kOther, kOther, kOther) != 0) return 1;
  return pthread_create(&thread, NULL, fire_ten, NULL) != 0 || pthread_join(thread, NULL) != 0;
}

static int lose_beside_worker(void) {
  int ends[2];
  int status = 0;
  pid_t worker;
  if (pipe(ends) != 0 || (worker = fork()) < 0) return 1;
  if (worker == 0) _exit(clear_counts(ends[0]));
  if (lose_ten() != 0 || write(ends[1], "x", 1) != 1) return 1;
  return waitpid(worker, &status, 0) != worker || status != 0;
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  char line[4096];
  int seen = 0;
  int wrong = 0;
  FILE* maps;
  if (strcmp(how, "lose-early") != 0) TRCHKL1(HKWD_USER1, 0);
  if (strcmp(how, "lose-worker") == 0) return lose_beside_worker();
  if (strncmp(how, "lose", 4) == 0) return lose_ten();
  if (geteuid() == 0 && setresuid(kOther, kOther, kOther) != 0) return 1;
  maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long at, end;
    const int counts = strstr(line, "/" TRACEWELL_FAILURES_NAME "-") != NULL;
    if ((!counts && !strstr(line, "/" TRACEWELL_CONTROL_NAME "\n")) ||
        sscanf(line, "%lx-%lx", &at, &end) != 2)
      continue;
    if (strcmp(how, "protect") == 0 && !counts) ++seen, wrong |= protect((void*)at, end - at);
    if (strcmp(how, "remap") == 0 && strstr(line, " rw-s "))
      seen = kReadMappings, wrong |= remap((void*)at);
    if (strcmp(how, "forge") == 0 && counts) seen = kReadMappings, forge((void*)at);
  }
  return !maps || seen < kReadMappings || wrong;
}
