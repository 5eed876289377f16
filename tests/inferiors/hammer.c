// hammer THREADS CALLS [storm|together]: threads that call work(), whose instructions are of many
// kinds, and print a checksum. With "storm" a timer's signals rain on them; "together" they begin
// once all are there, and end once all have called. CALLS 0: for ever, checking.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

volatile long signals;

#ifdef __i386__
#include "hammer_32.h"
#else
typedef uint64_t word;
word work(word x);
word salt = 0x9e3779b97f4a7c15u;
word (*mix_pointer)(word);

__asm__(
    ".text\n.globl work\n.type work,@function\n"
    ".globl site_push, site_rip, site_call, site_icall, site_leaf, site_jcc, site_loop\n"
    ".globl site_flags, site_pushf, site_popf, site_popf_half, site_rep, site_vector\n"
    ".globl site_pop, site_ret, mix\n"
    "mix: mov %rax, %rdx\n"
    "  shr $29, %rdx\n"
    "  xor %rdx, %rax\n"
    "  ret\n"
    "work:\n"
    "site_push: push %rbx\n"
    "site_rip: mov salt(%rip), %rax\n"
    "  imul %rdi, %rax\n"
    "site_call: call mix\n"
    "site_icall: call *mix_pointer(%rip)\n"
    "  mov %rax, -8(%rsp)\n"  // the red zone
    "  mov %rdi, -120(%rsp)\n"
    "site_leaf: add $3, %rax\n"
    "  xor -8(%rsp), %rax\n"
    "  add -120(%rsp), %rax\n"
    "  test $1, %rdi\n"
    "site_jcc: jnz 1f\n"
    "  add $17, %rax\n"
    "1: mov $5, %ecx\n"
    "2: lea 1(%rax,%rax,2), %rax\n"
    "site_loop: loop 2b\n"
    "  stc\n"
    "site_flags: lea 7(%rax), %rax\n"
    "  adc $0, %rax\n"
    "site_pushf: pushf\n"
    "  andl $0xfff, (%rsp)\n"
    "  xor (%rsp), %rax\n"
    "  xorl $0x8d5, (%rsp)\n"  // OF SF ZF AF PF CF
    "site_popf: popf\n"
    "  adc $0, %rax\n"
    "  pushfw\n"
    "  andw $0x8d5, (%rsp)\n"
    "  add (%rsp), %ax\n"
    "  xorw $0x8d5, (%rsp)\n"
    "site_popf_half: popfw\n"
    "  adc $0, %rax\n"
    "  sub $64, %rsp\n"
    "  mov %rdi, %r8\n"
    "  mov %rsp, %rdi\n"
    "  mov $64, %ecx\n"
    "site_rep: rep stosb\n"
    "  add 24(%rsp), %rax\n"
    "  add $64, %rsp\n"
    "  movq %rax, %xmm3\n"
    "site_vector: paddq salt(%rip), %xmm3\n"
    "  movq %xmm3, %rax\n"
    "site_pop: pop %rbx\n"
    "site_ret: ret\n"
    ".size work,.-work\n"
    ".data\n.balign 16\n.text\n");
#endif

word mix(word x);
static long calls;

static word series(word seed, long count) {
  word sum = seed;
  for (long i = 0; i < count; ++i) sum += work(sum ^ (word)i);
  return sum;
}

static pthread_barrier_t all_there;
static int together;

static void* run(void* seed) {
  if (together) pthread_barrier_wait(&all_there);
  if (calls > 0) {
    const word sum = series((word)(uintptr_t)seed, calls);
    if (together) pthread_barrier_wait(&all_there);
    return (void*)(uintptr_t)sum;
  }
  const word expected = series((word)(uintptr_t)seed, 100);
  for (;;)
    if (series((word)(uintptr_t)seed, 100) != expected) abort();
}

static void on_alarm(int signal) {
  (void)signal;
  __atomic_add_fetch(&signals, 1, __ATOMIC_RELAXED);
}

static void on_term(int signal) {
  (void)signal;
  _exit(44);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  calls = argc > 2 ? atol(argv[2]) : 10;
  mix_pointer = mix;
  signal(SIGTERM, on_term);
  if (argc > 3 && strcmp(argv[3], "storm") == 0) {
    struct sigaction action = {0};
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, NULL);
  }
  together = argc > 3 && strcmp(argv[3], "together") == 0;
  pthread_barrier_init(&all_there, NULL, (unsigned)threads);
  pthread_t* const ids = calloc((size_t)threads, sizeof *ids);
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&ids[i], NULL, run, (void*)(uintptr_t)(i + 1)) != 0) return 2;
  uint64_t sum = 0;
  for (int i = 0; i < threads; ++i) {
    void* part = NULL;
    while (pthread_join(ids[i], &part) != 0) {
    }
    sum = sum * 31 + (word)(uintptr_t)part;
  }
  free(ids);
  printf("%016llx\n", (unsigned long long)sum);
  return (int)(sum % 113);
}
