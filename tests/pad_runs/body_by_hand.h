// A function of what compilers seldom make.
#pragma once

#include <cstdint>

// Instructions of one byte, a jump over a lock prefix, loops onto themselves, a call that finds out
// where it is, string instructions, a tail call.
extern "C" uint64_t by_hand(uint64_t a, uint64_t b);
asm(R"(
    .text
    .p2align 4
    .type by_hand, @function
by_hand:
    .cfi_startproc
    push %rbp
    .cfi_adjust_cfa_offset 8
    mov %rsp, %rbp
    push %rbx
    push %r12
    push %rdi
    push %rsi
    pop %rbx
    pop %rax
    mov $5, %ecx
1:  loop 1b
    xor %r12d, %r12d
    mov $3, %ecx
2:  add %rax, %r12
    inc %rbx
    dec %ecx
    jnz 2b
    jrcxz 3f
    ud2
3:  nop
    movq $5, -128(%rsp)
    cmp $4, %al
    je 4f
    lock
4:  addq $1, -128(%rsp)
    cld
    sub $64, %rsp
    mov %rax, (%rsp)
    mov %rbx, 8(%rsp)
    lea (%rsp), %rsi
    lea 16(%rsp), %rdi
    mov $16, %ecx
    rep movsb
    mov 24(%rsp), %rdx
    add $64, %rsp
    stc
    adc %rdx, %r12
    cwtl
    cltq
    xchg %rax, %rdx
    call 5f
5:  pop %rax
    lea 5b(%rip), %rcx
    sub %rcx, %rax
    add %r12, %rax
    test $1, %dl
    jne 6f
    call 7f
    jmp 8f
6:  call *9f(%rip)
    nop
8:  pop %r12
    pop %rbx
    leave
    .cfi_adjust_cfa_offset -8
    jmp 10f
    .p2align 4
7:  add $11, %rax
    ret
    int3
    int3
11: add $13, %rax
    repz ret
10: lahf
    sahf
    ret
    .cfi_endproc
    .size by_hand, . - by_hand
    .section .data.rel.ro, "aw"
    .p2align 3
9:  .quad 11b
    .text
)");
