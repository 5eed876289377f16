// faults repair: a marked load faults, the handler makes its page readable, and it goes on.
// faults jump: the handler leaves by a long jump, a hundred times.
// faults skip: the handler moves the pc over the load.
// Exits with 0 when handlers saw the marked address each time.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

long marked_load(const long* from);
extern char site_load[];
__asm__(
    ".text\n.globl marked_load, site_load\n"
    "marked_load:\n"
    "site_load: mov (%rdi), %rax\n"
    "  ret\n");

static long* page;
static sigjmp_buf back;
static const char* what;
static volatile int wrong, seen;

static void on_fault(int signal, siginfo_t* info, void* context) {
  (void)signal;
  greg_t* regs = ((ucontext_t*)context)->uc_mcontext.gregs;
  if (regs[REG_RIP] != (greg_t)site_load || info->si_addr != page) ++wrong;
  ++seen;
  for (int i = 0; i < 5; ++i) getppid();
  if (strcmp(what, "repair") == 0) mprotect(page, 4096, PROT_READ);
  if (strcmp(what, "jump") == 0) siglongjmp(back, 1);
  if (strcmp(what, "skip") == 0) regs[REG_RIP] += 3;
}

int main(int argc, char** argv) {
  what = argc > 1 ? argv[1] : "repair";
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  for (volatile int i = 0; i < 100; ++i) {
    mprotect(page, 4096, PROT_NONE);
    if (sigsetjmp(back, 1) == 0) marked_load(page);
  }
  return wrong != 0 || seen != 100;
}
