// Threads count in restartable sequences (rseq): a load, an addition and a store to a counter of
// the processor's, which is right as long as nobody else comes in between on that processor.
// build: -D_GNU_SOURCE -pthread
// Exits with 0 when no count is missing, with 77 where there are no such sequences.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/rseq.h>
#include <unistd.h>

enum { kThreads = 4, kCounts = 10000000, kProcessors = 1024 };

struct Counter {
  _Alignas(64) long count;
};
struct Counter counters[kProcessors];
volatile long aborts;

void count_here(struct Counter *all, struct rseq *mine);

__asm__(
    "  .text\n"
    "  .globl count_here, sequence_begins, sequence_ends, sequence_aborts\n"
    "  .type count_here, @function\n"
    "count_here:\n"
    "  .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
    "1: lea descriptor(%rip), %rax\n"
    "  mov %rax, 8(%rsi)\n"
    "sequence_begins:\n"
    "  mov 4(%rsi), %ecx\n"
    "  shl $6, %rcx\n"
    "  mov (%rdi,%rcx), %rax\n"
    "  nopl 0(%rax,%rax,1)\n"
    "  add $1, %rax\n"
    "  nopl 0(%rax,%rax,1)\n"
    "  mov %rax, (%rdi,%rcx)\n"
    "sequence_ends:\n"
    "  movq $0, 8(%rsi)\n"
    "  ret\n"
    "  .byte 0x0f, 0xb9, 0x3d\n" /* ud1 with the signature as its distance */
    "  .long 0x53053053\n"
    "sequence_aborts:\n"
    "  lock incq aborts(%rip)\n"
    "  jmp 1b\n"
    "  .size count_here, . - count_here\n"
    "  .section __rseq_cs, \"aw\"\n"
    "  .balign 32\n"
    "descriptor:\n"
    "  .long 0, 0\n"
    "  .quad sequence_begins, sequence_ends - sequence_begins, sequence_aborts\n"
    "  .text\n");

static void *count(void *unused) {
  struct rseq *const mine =
      (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
  for (int i = 0; i < kCounts; ++i) count_here(counters, mine);
  return unused;
}

__attribute__((noinline)) void finished(int code) { _exit(code); }

int main(void) {
  if (__rseq_size == 0) finished(77);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, count, NULL);
  long sum = 0;
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kProcessors; ++i) sum += counters[i].count;
  printf("%ld missing, %ld times begun anew\n", (long)kThreads * kCounts - sum, aborts);
  fflush(stdout);
  finished(sum != (long)kThreads * kCounts);
}
