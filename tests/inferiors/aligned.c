// A program that has asked for a fault wherever an address is no multiple (EFLAGS.AC).
#include <unistd.h>

/* Instructions of several lengths, so that what replaces them begins anywhere. */
#define PLACE(number, text)                     \
  __attribute__((noinline)) void f##number(void) { \
    __asm__ volatile(".globl s" #number "\ns" #number ": " text ::: "rax", "memory"); \
  }
PLACE(0, "nopl 0(%%rax,%%rax,1)\n")
PLACE(1, "movabs $1, %%rax\n")
PLACE(2, "nopl 0(%%rax)\n")
PLACE(3, "movl $3, %%eax\n")
PLACE(4, "nopw 0(%%rax,%%rax,1)\n")
PLACE(5, "movq $3, %%rax\n")
PLACE(6, "nop\n")
PLACE(7, "push %%rax\npop %%rax\n")

__attribute__((noinline)) void finished(int code) { _exit(code); }

int main(void) {
  for (int i = 0; i < 100; ++i) {
    __asm__ volatile("pushf; orl $0x40000, (%%rsp); popf" ::: "memory", "cc");
    f0(), f1(), f2(), f3(), f4(), f5(), f6(), f7();
    __asm__ volatile("pushf; andl $~0x40000, (%%rsp); popf" ::: "memory", "cc");
  }
  finished(0);
}
