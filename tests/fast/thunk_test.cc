#include "fast/thunk.h"

// rdi: a Registers; tw_thunk_body: what is called. Everything of the caller's is kept in memory
// meanwhile, since all registers are the body's to see.
asm(R"(
.data
.balign 8
tw_thunk_body: .quad 0
tw_thunk_registers: .quad 0
tw_thunk_stack: .quad 0
tw_thunk_rax: .quad 0
.text
.globl tw_thunk_body
.type tw_thunk, @function
.globl tw_thunk
tw_thunk:
  pushq %rbx
  pushq %rbp
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rdi, tw_thunk_registers(%rip)
  movq %rsp, tw_thunk_stack(%rip)
  movdqa 144(%rdi), %xmm0
  movdqa 160(%rdi), %xmm1
  movdqa 176(%rdi), %xmm2
  movdqa 192(%rdi), %xmm3
  xorl %ecx, %ecx
1:
  movq 208(%rdi,%rcx,8), %rax
  movq %rax, -128(%rsp,%rcx,8)
  incl %ecx
  cmpl $16, %ecx
  jb 1b
  movq %rsp, 336(%rdi)
  pushq 128(%rdi)
  movq 0(%rdi), %rax
  movq 8(%rdi), %rcx
  movq 16(%rdi), %rdx
  movq 24(%rdi), %rbx
  movq 40(%rdi), %rbp
  movq 48(%rdi), %rsi
  movq 64(%rdi), %r8
  movq 72(%rdi), %r9
  movq 80(%rdi), %r10
  movq 88(%rdi), %r11
  movq 96(%rdi), %r12
  movq 104(%rdi), %r13
  movq 112(%rdi), %r14
  movq 120(%rdi), %r15
  movq 56(%rdi), %rdi
  movq %rdi, tw_thunk_rax(%rip)
  movq tw_thunk_registers(%rip), %rdi
  popfq
  movq 328(%rdi), %rdi
  movq %rdi, -8(%rsp)
  movq tw_thunk_rax(%rip), %rdi
  leaq -128(%rsp), %rsp
  callq *tw_thunk_body(%rip)
  movq %rax, tw_thunk_rax(%rip)
  movq tw_thunk_registers(%rip), %rax
  movq %rdi, 56(%rax)
  movq -8(%rsp), %rdi
  movq %rdi, 328(%rax)
  movq tw_thunk_rax(%rip), %rdi
  movq %rdi, 0(%rax)
  movq %rcx, 8(%rax)
  movq %rdx, 16(%rax)
  movq %rbx, 24(%rax)
  movq %rbp, 40(%rax)
  movq %rsi, 48(%rax)
  movq %r8, 64(%rax)
  movq %r9, 72(%rax)
  movq %r10, 80(%rax)
  movq %r11, 88(%rax)
  movq %r12, 96(%rax)
  movq %r13, 104(%rax)
  movq %r14, 112(%rax)
  movq %r15, 120(%rax)
  pushfq
  popq 128(%rax)
  pushq $2
  popfq
  movdqa %xmm0, 144(%rax)
  movdqa %xmm1, 160(%rax)
  movdqa %xmm2, 176(%rax)
  movdqa %xmm3, 192(%rax)
  xorl %ecx, %ecx
2:
  cmpl $15, %ecx
  je 3f
  movq -128(%rsp,%rcx,8), %rdx
  movq %rdx, 208(%rax,%rcx,8)
3:
  incl %ecx
  cmpl $16, %ecx
  jb 2b
  movq %rsp, %rcx
  movq tw_thunk_stack(%rip), %rsp
  subq %rsp, %rcx
  addq %rcx, 336(%rax)
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbp
  popq %rbx
  ret
.size tw_thunk, .-tw_thunk
)");

namespace tracewell::fast {

extern "C" void tw_thunk(Registers* registers);
extern "C" uint64_t tw_thunk_body;

Registers call_body(uint64_t body, const Registers& before) {
  static_assert(offsetof(Registers, flags) == 128 && offsetof(Registers, vector) == 144 &&
                offsetof(Registers, red_zone) == 208 &&
                offsetof(Registers, stack_pointer) == 336);
  Registers registers = before;
  tw_thunk_body = body;
  tw_thunk(&registers);
  return registers;
}

}  // namespace tracewell::fast
