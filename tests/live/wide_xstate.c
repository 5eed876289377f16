/* Preloaded into gdbserver where the processor has AMX. Linux takes a thread's extended state
 * (PTRACE_SETREGSET, NT_X86_XSTATE) only whole, and with AMX that is more than gdbserver 13 has
 * room for: it says "Bad address", and registers that a debugger writes stay as they are. What it
 * leaves out is added here, so that it can be compared with. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

typedef long (*ptrace_call)(enum __ptrace_request, pid_t, void*, void*);

/* The programs that it starts have none of this. */
__attribute__((constructor)) static void stay_alone(void) { unsetenv("LD_PRELOAD"); }

long ptrace(enum __ptrace_request request, ...) {
  static char whole[1 << 16];
  static ptrace_call next;
  va_list list;
  va_start(list, request);
  const pid_t tid = va_arg(list, pid_t);
  void* const address = va_arg(list, void*);
  void* const data = va_arg(list, void*);
  va_end(list);
  if (!next) next = (ptrace_call)dlsym(RTLD_NEXT, "ptrace");
  if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE) {
    const struct iovec* const part = data;
    struct iovec all = {whole, sizeof whole};
    if (next(PTRACE_GETREGSET, tid, address, &all) == 0 && part->iov_len < all.iov_len) {
      memcpy(whole, part->iov_base, part->iov_len);
      return next(request, tid, address, &all);
    }
  }
  return next(request, tid, address, data);
}
