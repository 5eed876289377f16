// A program that works against its tracer. argv[1]:
//   diverts  filters openat away (seccomp), and keeps the kernel told of a restartable sequence
//            over the vDSO: whoever has the thread make a call there has it make openat instead
//   execs    writes over the code that a tracer has mapped: a loop there waits until it is stepped
//            through, and then runs another program
//   floods   has very many signals pending; not all that its user may have
//   keeps    has a SIGTRAP pending, blocked, that looks like one of an instruction of its own
// build: -D_GNU_SOURCE -pthread
// Says "ready", and calls hit(). "diverts" exits with 0 when it did so often enough; with 77 where
// there are no restartable sequences, and with 1 if openat was made.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kChunk = 0x10000, kKeepers = 3, kSignals = 60000 };

volatile long hits, aborts, rounds;
char path[] = "/etc/hostname";
char program[] = "/bin/sleep", minute[] = "60";
char *arguments[] = {program, minute, NULL}, *nothing[] = {NULL};

void hit(void);
extern char diverted[], waits_for_steps[], waits_for_steps_end[];

__asm__(
    "  .text\n"
    "  .globl hit\n"
    "  .type hit, @function\n"
    "hit: incq hits(%rip)\n"
    "  mov $1, %eax\n"
    "  mov $2, %eax\n"
    "  ret\n"
    "  .size hit, . - hit\n"
    "  .byte 0x0f, 0xb9, 0x3d\n" /* ud1 with the signature as its distance */
    "  .long 0x53053053\n"
    "diverted:\n"
    "  incq aborts(%rip)\n"
    "  mov $257, %eax\n" /* openat(AT_FDCWD, path, O_RDONLY) */
    "  mov $-100, %rdi\n"
    "  lea path(%rip), %rsi\n"
    "  xor %edx, %edx\n"
    "  xor %r10d, %r10d\n"
    "  syscall\n"
    "1: jmp 1b\n"
    "  .data\n"
    "waits_for_steps:\n"
    "2: incq (%rcx)\n"
    "  pushf\n"
    "  pop %rax\n"
    "  test $0x100, %eax\n"
    "  jz 2b\n"
    "  mov $59, %eax\n" /* execve */
    "  syscall\n"
    "  jmp 2b\n"
    "waits_for_steps_end:\n"
    "  .text\n");

struct Descriptor {
  _Alignas(32) uint32_t version;
  uint32_t flags;
  uint64_t start, bytes, abort;
};

static void ready(void) {
  printf("ready\n");
  fflush(stdout);
}

static void pass_time(void) {
  const struct timespec little = {0, 2000000};
  syscall(SYS_nanosleep, &little, NULL);
}

static int diverts(void) {
  static struct Descriptor descriptor;
  if (__rseq_size == 0) return 77;
  char *const area = (char *)__builtin_thread_pointer() + __rseq_offset;
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  descriptor = (struct Descriptor){0, 0, vdso, 0x4000, (uint64_t)diverted};
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 9;
  ready();
  for (int i = 0; i < 2000; ++i) {
    pass_time();
    *(volatile uint64_t *)(area + 8) = (uint64_t)&descriptor;
    hit();
  }
  return fcntl(3, F_GETFD) != -1;
}

/* Where a tracer has mapped a piece of code since the program began; it hits until then. */
static uintptr_t tracers_code(void) {
  for (;;) {
    char line[512];
    uintptr_t found = 0;
    pass_time();
    hit();
    FILE *const maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
      unsigned long start = 0, end = 0, inode = 0;
      char rights[8] = "";
      if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &start, &end, rights, &inode) != 4) continue;
      if (!strcmp(rights, "r-xp") && !inode && end - start == kChunk && start >> 45) found = start;
    }
    if (maps) fclose(maps);
    if (found && hits > 200) return found;
  }
}

static int execs(void) {
  ready();
  char *const code = (char *)tracers_code();
  if (mprotect(code, kChunk, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return 3;
  memcpy(code + 0x200, waits_for_steps, (size_t)(waits_for_steps_end - waits_for_steps));
  printf("inside\n");
  fflush(stdout);
  __asm__ volatile("jmp *%%rbx"
                   :
                   : "b"(code + 0x200), "c"(&rounds), "D"(program), "S"(arguments), "d"(nothing)
                   : "rax", "memory");
  return 0;
}

static int floods(void) {
  struct rlimit most;
  getrlimit(RLIMIT_SIGPENDING, &most);
  most.rlim_cur = most.rlim_max;
  setrlimit(RLIMIT_SIGPENDING, &most);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 3);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  const union sigval value = {0};
  for (int i = 0; i < kSignals; ++i) pthread_sigqueue(pthread_self(), SIGRTMIN + 3, value);
  ready();
  for (;;) {
    pass_time();
    hit();
  }
}

static void *keep(void *unused) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = SIGTRAP;
  info.si_code = 2;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &info);
  for (;;) pass_time();
  return unused;
}

static int keeps(void) {
  pthread_t thread;
  for (int i = 0; i < kKeepers; ++i) pthread_create(&thread, NULL, keep, NULL);
  for (int i = 0; i < 50; ++i) pass_time();
  ready();
  for (;;) {
    pass_time();
    hit();
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(void);
  } ways[] = {{"diverts", diverts}, {"execs", execs}, {"floods", floods}, {"keeps", keeps}};
  for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof ways[0]; ++i)
    if (!strcmp(argv[1], ways[i].name)) _exit(ways[i].run());
  return 2;
}
