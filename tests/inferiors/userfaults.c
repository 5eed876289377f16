// Memory whose pages a thread of the program's own supplies (userfaultfd), when it is told to: each
// fault is printed, and answered once a line of standard input has come. argv[1]:
//   user     faults of user mode alone, which needs no right
//   apart    the same; another process supplies them, and this one has no descriptor for it
//   behind   the same, but for a beginning behind the first line of standard input
//   kernel   those of system calls, too
//   pass     the same; the handler calls passing() before it answers
//   late     the same, but for a beginning behind the first line of standard input
//   step     faults of user mode, all answered at once; nothing is read from standard input
// Exits with 0 when all was read right; with 77 where there is no such thing.
// build: -D_GNU_SOURCE
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
#include <unistd.h>

enum { kPages = 16, kPageBytes = 4096 };

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static int faults;
static int passes, apart;
static uint8_t *pages;
static long filler[kPageBytes / sizeof(long)];

__attribute__((noinline, noclone)) long look(const long *at) { return (long)(uintptr_t)at; }
__attribute__((noinline, noclone)) void passing(long n) { filler[1] = n; }

/* What is at its argument, by its first instruction. */
long take(const volatile long *at);
__asm__(".globl take\n.type take, @function\ntake: mov (%rdi), %rax\nret\n.size take, . - take");

static void *answer(void *unused) {
  (void)unused;
  struct uffd_msg message;
  while (read(faults, &message, sizeof message) == (ssize_t)sizeof message) {
    const uint64_t page = message.arg.pagefault.address & ~(uint64_t)(kPageBytes - 1);
    printf("fault\n");
    fflush(stdout);
    char line[16];
    if (passes) passing((long)page);
    else if (!fgets(line, sizeof line, stdin)) return NULL;
    filler[0] = 5;
    struct uffdio_copy copy = {.dst = page, .src = (uintptr_t)filler, .len = kPageBytes};
    ioctl(faults, UFFDIO_COPY, &copy);
  }
  return NULL;
}

static int begin(int flags) {
  faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | flags);
  struct uffdio_api api = {.api = UFFD_API};
  if (faults < 0 || ioctl(faults, UFFDIO_API, &api) != 0) return 77;
  pages = mmap(NULL, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
               0);
  struct uffdio_register all = {.range = {(uintptr_t)pages, kPages * kPageBytes},
                                .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (ioctl(faults, UFFDIO_REGISTER, &all) != 0) return 77;
  if (apart) {
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      answer(NULL);
      _exit(0);
    }
    return close(faults) == 0 ? 0 : 77;
  }
  pthread_t thread;
  return pthread_create(&thread, NULL, answer, NULL) == 0 ? 0 : 77;
}

int main(int argc, char **argv) {
  const char *const what = argc > 1 ? argv[1] : "user";
  const int asks = strcmp(what, "step"), behind = !strcmp(what, "behind");
  const int late = !strcmp(what, "late") || behind;
  apart = !strcmp(what, "apart");
  passes = !strcmp(what, "pass") || !strcmp(what, "late") || !asks;
  const int flags = !strcmp(what, "user") || apart || behind || !asks ? UFFD_USER_MODE_ONLY : 0;
  setvbuf(stdin, NULL, _IONBF, 0);  /* others read of it, too */
  int failed = begin(flags);
  if (failed) return failed;
  if (late) close(faults);
  apart = apart || behind;
  printf("ready\n");
  fflush(stdout);
  char line[16];
  if (asks && !fgets(line, sizeof line, stdin)) return 3;
  if (late && (failed = begin(flags))) return failed;
  long sum = 0;
  for (int i = 0; i < kPages; ++i) {
    const volatile long *const at = (const volatile long *)(pages + i * kPageBytes);
    look((const long *)at);
    sum += take(at);
  }
  printf("sum %ld\n", sum);
  fflush(stdout);
  return sum != 5 * kPages;
}
