// failing: instructions that fail where they stand, fifty times each: a division by zero and an
// undefined one. Exits with 0 when the handler was told their own addresses each time.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#ifdef __i386__
#define PC REG_EIP
#else
#define PC REG_RIP
#endif

void divide(void);
void undefined(void);
extern char site_divide[], site_undefined[];
__asm__(
    ".text\n.globl divide, undefined, site_divide, site_undefined\n"
    "divide: xor %ecx, %ecx\n"
    "  mov $7, %eax\n"
    "  xor %edx, %edx\n"
    "site_divide: div %ecx\n"
    "  ret\n"
    "undefined: nop\n"
    "site_undefined: ud2\n"
    "  ret\n");

static sigjmp_buf back;
static volatile int wrong, seen;

static void on_fault(int signal, siginfo_t* info, void* context) {
  const char* site = signal == SIGFPE ? site_divide : site_undefined;
  if (info->si_addr != site) ++wrong;
  if ((char*)((ucontext_t*)context)->uc_mcontext.gregs[PC] != site) ++wrong;
  ++seen;
  siglongjmp(back, 1);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGFPE, &action, NULL);
  sigaction(SIGILL, &action, NULL);
  for (volatile int i = 0; i < 50; ++i) {
    if (sigsetjmp(back, 1) == 0) divide();
    if (sigsetjmp(back, 1) == 0) undefined();
  }
  return wrong != 0 || seen != 100;
}
