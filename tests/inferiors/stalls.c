// A program whose system calls wait in the kernel for as long as a process beside it likes
// (userfaultfd), which standard input tells what to do. argv[1]:
//   ours   calls hit() all the time; munmap of the tracer's code waits once that is watched
//   own    munmap of memory of its own waits, then it calls hit() and ends with status 7
//   exec   another thread calls exec, which waits for a page of its arguments; it becomes sleep
// Lines: w = watch the code that a tracer has mapped, m = make the call, a = answer all that waits.
// Each is repeated when it is done. Says "ready" first; ends with 77 where there is no such thing.
// build: -D_GNU_SOURCE -pthread
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096, kChunk = 0x10000 };

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static int faults;
static volatile int *goes;  // shared with the process beside
static char *memory;
volatile long hits;

__attribute__((noinline, noclone)) void hit(void) { ++hits; }

static void pass_time(void) {
  const struct timespec little = {0, 2000000};
  syscall(SYS_nanosleep, &little, NULL);
}

static int watch(uintptr_t start, uintptr_t bytes) {
  struct uffdio_register all = {.range = {start, bytes}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  return ioctl(faults, UFFDIO_REGISTER, &all);
}

static void watch_tracers_code(pid_t pid) {
  char name[64], line[512];
  snprintf(name, sizeof name, "/proc/%d/maps", pid);
  FILE *const maps = fopen(name, "r");
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long start = 0, end = 0, inode = 0;
    char rights[8] = "";
    if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &start, &end, rights, &inode) == 4 &&
        !strcmp(rights, "r-xp") && !inode && !strchr(line, '['))
      watch(start, end - start);
  }
  if (maps) fclose(maps);
}

static void *answer(void *unused) {
  static char page[kPage] __attribute__((aligned(4096))) = "sleep";
  struct uffd_msg message;
  while (read(faults, &message, sizeof message) == (ssize_t)sizeof message) {
    if (message.event != UFFD_EVENT_PAGEFAULT) continue;
    struct uffdio_copy copy = {
        .dst = message.arg.pagefault.address & ~(uint64_t)(kPage - 1),
        .src = (uintptr_t)page, .len = kPage};
    ioctl(faults, UFFDIO_COPY, &copy);
  }
  return unused;
}

static void stand_beside(pid_t program) {
  char line[16];
  pthread_t thread;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (fgets(line, sizeof line, stdin)) {
    if (line[0] == 'w') watch_tracers_code(program);
    if (line[0] == 'm') *goes = 1;
    if (line[0] == 'a') pthread_create(&thread, NULL, answer, NULL);
    fputs(line, stdout);
    fflush(stdout);
  }
  _exit(0);
}

static void *become(void *unused) {
  static char minute[] = "60";
  char *const arguments[] = {memory, minute, NULL};
  while (!*goes) pass_time();
  execv("/bin/sleep", arguments);
  _exit(3);
  return unused;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const int is_exec = !strcmp(argv[1], "exec"), is_own = !strcmp(argv[1], "own");
  goes = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  memory = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | (is_exec ? 0 : UFFD_USER_MODE_ONLY));
  struct uffdio_api api = {.api = UFFD_API, .features = is_exec ? 0 : UFFD_FEATURE_EVENT_UNMAP};
  if (faults < 0 || ioctl(faults, UFFDIO_API, &api) != 0) return 77;
  if ((is_exec || is_own) && watch((uintptr_t)memory, kPage) != 0) return 77;
  const pid_t program = getpid();
  printf("ready\n");
  fflush(stdout);
  if (fork() == 0) stand_beside(program);
  pthread_t thread;
  if (is_exec) pthread_create(&thread, NULL, become, NULL);
  for (;;) {
    pass_time();
    if (!strcmp(argv[1], "ours")) hit();
    if (!is_own || !*goes) continue;
    munmap(memory, kPage);
    hit();
    _exit(7);
  }
}
