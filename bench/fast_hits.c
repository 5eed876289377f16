/* What bench_fast_hit traces: threads that call one function over and over, whose first instruction
 * has the five bytes that every tool of fast tracepoints can do with. Linked at a fixed address,
 * for the peer's sake.
 *
 *   fast_hits THREADS CALLS PHASES     prints, of each phase, what a call costs each thread in
 *                                      nanoseconds, and a checksum of what was computed
 *   fast_hits floor CALLS PHASES       the same with a pad that was made by hand: it keeps what a C
 *                                      function may change and the flags, and writes the time and a
 *                                      word to a ring; there is nothing that it could leave out */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int watched = 4711;
static long calls;
static pthread_barrier_t barrier;
static int threads;
static int ready; /* threads that are about to begin: they wait without sleeping */

/* work_by_hand is the same function with a jump to its pad over the nop. */
__asm__(
    "  .text\n  .globl work, work_by_hand\n"
    "  .skip 512, 0x90\n" /* far from where breakpoints will be */
    "  .type work, @function\n  .balign 64\n"
    "work:\n"
    "  .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
    "  lea 1(%rdi,%rdi,2), %rax\n"
    "  ret\n"
    "  .size work, . - work\n"
    "  .type work_by_hand, @function\n  .balign 64\n"
    "work_by_hand:\n"
    "  .byte 0xe9\n  .long pad_by_hand - . - 4\n"
    "back:\n"
    "  lea 1(%rdi,%rdi,2), %rax\n"
    "  ret\n"
    "  .size work_by_hand, . - work_by_hand\n"
    "pad_by_hand:\n"
    "  lea -128(%rsp), %rsp\n"
    "  push %rax\n  push %rcx\n  push %rdx\n  push %rsi\n  push %rdi\n"
    "  push %r8\n  push %r9\n  push %r10\n  push %r11\n"
    "  lahf\n  seto %al\n  push %rax\n"
    "  mov %fs:ring_of_mine@tpoff, %rcx\n"
    "  mov %rcx, %rsi\n"
    "  add $32, %rcx\n"
    "  and $0xffffffffffefffff, %rcx\n" /* a ring of 1 MiB */
    "  mov %rcx, %fs:ring_of_mine@tpoff\n"
    "  rdtsc\n"
    "  shl $32, %rdx\n  or %rdx, %rax\n"
    "  mov %rax, 8(%rsi)\n"
    "  movq $1, 16(%rsi)\n"
    "  movq $32, (%rsi)\n"
    "  pop %rax\n  add $0x7f, %al\n  sahf\n"
    "  pop %r11\n  pop %r10\n  pop %r9\n  pop %r8\n"
    "  pop %rdi\n  pop %rsi\n  pop %rdx\n  pop %rcx\n  pop %rax\n"
    "  lea 128(%rsp), %rsp\n"
    "  nopl 0(%rax,%rax,1)\n"
    "  jmp back\n"
    "  .skip 512, 0x90\n");
long work(long x);
long work_by_hand(long x);

__thread uint64_t ring_of_mine __attribute__((tls_model("local-exec"), used));

struct Thread {
  long sum;
  double ns;
  int by_hand, number;
};

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void prepare_ring(void) {
  const uint64_t size = 1 << 20;
  char *const memory = malloc(4 * size);
  memset(memory, 0, 4 * size);
  ring_of_mine = ((uint64_t)memory + 2 * size - 1) & ~(2 * size - 1); /* its bit 20 is 0 */
}

/* Each thread has a processor: two that share one take turns and do not meet. */
static void stay_on(int number) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int count = CPU_COUNT(&allowed);
  CPU_ZERO(&one);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && seen++ == number % count) CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

static void *loop(void *argument) {
  struct Thread *const mine = argument;
  prepare_ring();
  if (threads > 1) stay_on(mine->number);
  for (;;) {
    pthread_barrier_wait(&barrier);
    long sum = mine->sum;
    __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) % threads != 0) continue;
    const double start = now_ns();
    if (mine->by_hand)
      for (long i = 0; i < calls; ++i) sum = work_by_hand(sum) & 0xffffff;
    else
      for (long i = 0; i < calls; ++i) sum = work(sum) & 0xffffff;
    mine->ns = (now_ns() - start) / (double)calls;
    mine->sum = sum;
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

__attribute__((noinline)) void begin_phases(void) { __asm__ volatile(""); }
__attribute__((noinline)) void end_phase(void) { __asm__ volatile(""); }

enum { kMost = 16 };

static void run_phase(struct Thread *all) {
  usleep(20000); /* until the debugger has gone to sleep, and leaves the processors alone */
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  long sum = 0;
  double ns = 0;
  for (int i = 0; i < threads; ++i) {
    sum += all[i].sum;
    ns += all[i].ns / threads;
  }
  printf("%.2f ns, checksum %ld\n", ns, sum);
  fflush(stdout);
  end_phase();
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const int by_hand = strcmp(argv[1], "floor") == 0;
  threads = by_hand ? 1 : atoi(argv[1]);
  calls = atol(argv[2]);
  if (threads < 1 || threads > kMost) return 2;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
  static struct Thread all[kMost];
  for (int i = 0; i < threads; ++i) {
    pthread_t id;
    all[i].sum = i + 1;
    all[i].by_hand = by_hand;
    all[i].number = i;
    pthread_create(&id, NULL, loop, &all[i]);
  }
  begin_phases();
  for (int left = atoi(argv[3]); left > 0; --left) run_phase(all);
  return 0;
}
