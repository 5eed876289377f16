/* Work that needs paths and copies, on a stack of ours: a hook may be in a signal handler, whose
 * stack has a few KiB, or in a coroutine, and nothing guards the end of either. Signals are held
 * back, so that no handler runs there. */
#include "inproc/runtime.h"

#define STACK_BYTES (1u << 16)
#define GUARD_BYTES ((size_t)TRACEWELL_HOOK_PAGE)

/* Calls `work` with `data` on the stack that ends at `top`. Debuggers find back by its frame. */
HIDDEN void tracewell_call_on(void* top, void (*work)(void*), void* data);
#ifdef __x86_64__
__asm__(
    ".text\n"
    ".hidden tracewell_call_on\n"
    ".globl tracewell_call_on\n"
    ".type tracewell_call_on, @function\n"
    "tracewell_call_on:\n"
    ".cfi_startproc\n"
    "pushq %rbp\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbp, -16\n"
    "movq %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "movq %rdi, %rsp\n"
    "movq %rdx, %rdi\n"
    "callq *%rsi\n"
    "leaveq\n"
    ".cfi_def_cfa %rsp, 8\n"
    "retq\n"
    ".cfi_endproc\n"
    ".size tracewell_call_on, . - tracewell_call_on\n");
#else
__asm__(
    ".text\n"
    ".hidden tracewell_call_on\n"
    ".globl tracewell_call_on\n"
    ".type tracewell_call_on, @function\n"
    "tracewell_call_on:\n"
    ".cfi_startproc\n"
    "pushl %ebp\n"
    ".cfi_def_cfa_offset 8\n"
    ".cfi_offset %ebp, -8\n"
    "movl %esp, %ebp\n"
    ".cfi_def_cfa_register %ebp\n"
    "movl 8(%ebp), %esp\n"
    "subl $12, %esp\n"
    "pushl 16(%ebp)\n"
    "calll *12(%ebp)\n"
    "leavel\n"
    ".cfi_def_cfa %esp, 4\n"
    "retl\n"
    ".cfi_endproc\n"
    ".size tracewell_call_on, . - tracewell_call_on\n");
#endif

int on_own_stack(void (*work)(void*), void* data) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  uint8_t* const stack = map(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE, flags, -1, 0);
  /* Filters of system calls let mmap() pass more often than mprotect(). */
  const int there = stack && map(stack + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE,
                                 flags | MAP_FIXED, -1, 0);
  if (there) tracewell_call_on(stack + GUARD_BYTES + STACK_BYTES, work, data);
  if (stack) unmap(stack, GUARD_BYTES + STACK_BYTES);
  return there;
}
