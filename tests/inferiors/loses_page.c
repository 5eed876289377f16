// Calls look() for ever, which reads nothing by itself. Prints where a page is that others may
// read; with a byte from standard input the page goes, and after a thousand further calls a line
// says so. loses_page handles [blocked]: it handles SIGSEGV and SIGBUS (and blocks them), and says
// how often a handler was called, and whether handlers and mask are what they were.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPage = 4096, kCalls = 1000, kSetBytes = 8 };

/* As the kernel has it: all that it keeps. */
struct action {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};
struct conduct {
  struct action of_segv, of_bus;
  unsigned long mask;
};

volatile long looks, handled;

__attribute__((noinline)) void look(void) { looks = looks + 1; }

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  ++handled;
  _exit(3);
}

static void handle_faults(int blocks) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV);
  sigaddset(&set, SIGBUS);
  if (blocks) sigprocmask(SIG_BLOCK, &set, NULL);
}

static struct conduct conduct(void) {
  struct conduct out;
  memset(&out, 0, sizeof out);
  syscall(SYS_rt_sigaction, SIGSEGV, NULL, &out.of_segv, kSetBytes);
  syscall(SYS_rt_sigaction, SIGBUS, NULL, &out.of_bus, kSetBytes);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &out.mask, kSetBytes);
  return out;
}

int main(int count, char** words) {
  char byte;
  char* const page = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  page[0] = 1;
  if (count > 1) handle_faults(count > 2);
  const struct conduct before = conduct();
  printf("%p\n", (void*)page);
  fflush(stdout);
  fcntl(0, F_SETFL, O_NONBLOCK);
  while (read(0, &byte, 1) != 1) {
    look();
    usleep(100);
  }
  munmap(page, kPage);
  for (int i = 0; i < kCalls; ++i) look();
  const struct conduct after = conduct();
  printf("it goes on: %ld faults, %s\n", handled,
         memcmp(&before, &after, sizeof before) == 0 ? "as it was" : "with other handlers");
  fflush(stdout);
  for (;;) {
    look();
    usleep(100);
  }
}
