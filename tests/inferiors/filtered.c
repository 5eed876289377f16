// Filters its system calls (seccomp) like programs in containers, and calls work() as it is told.
// build: -D_GNU_SOURCE
//   filtered HOW [MORE …]
// HOW: "itself", the filter is its own; "launcher", it is there before this program is; "none".
// MORE: "handler", it handles SIGSEGV; a number, the filter does not allow that call; "argument",
// the filter looks at one of process_vm_readv; "twice", one thread has the filter twice;
// "over", one that allows all is there before; "apart", one thread has another one, which ends for
// what hits do; "beside", so has another process with this memory.
// Prints the address of work(). Takes lines, and answers each with how often work() was called:
//   hit N     so often
//   thread N  so often by a new thread
//   busy N    all the time from now on, by N new threads, until
//   idle
//   forbid    ends for what hits do, from now on
//   child N   so often by a child, which ends for what hits do
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_long calls;
static atomic_int stop;

__attribute__((noinline)) void work(const long *number) {
  __asm__ volatile("nop;nop;nop;nop;nop;nop;nop;nop" : : "r"(number) : "memory");
}

static void call(void) {
  static __thread long number;
  ++number;
  work(&number);
  atomic_fetch_add(&calls, 1);
}

static void *call_often(void *times) {
  for (long i = 0; i < (long)times; ++i) call();
  return NULL;
}

static void *call_always(void *nothing) {
  while (!atomic_load(&stop)) call();
  return nothing;
}

#define ARGUMENT(n) offsetof(struct seccomp_data, args[n])
#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, what)
#define JUMP(how, with, yes, no) BPF_JUMP(BPF_JMP | BPF_##how | BPF_K, with, yes, no)
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)

static struct sock_filter filter[1024];
static unsigned short length;

static void add(struct sock_filter op) { filter[length++] = op; }

static int put_filter(void) {
  const struct sock_fprog program = {length, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A long list of calls that are allowed, as containers have it, and some by their arguments. */
static int filter_calls(long but, int looks_at_argument) {
  enum { kX32 = 0x40000000, kListed = 335, kNewSpaces = 0x7e020000 };
  length = 0;
  add((struct sock_filter)LOAD(offsetof(struct seccomp_data, arch)));
  add((struct sock_filter)JUMP(JEQ, AUDIT_ARCH_X86_64, 1, 0));
  add((struct sock_filter)ANSWER(SECCOMP_RET_KILL_PROCESS));
  add((struct sock_filter)LOAD(offsetof(struct seccomp_data, nr)));
  add((struct sock_filter)JUMP(JGE, kX32, 0, 1));
  add((struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | 1));
  add((struct sock_filter)JUMP(JEQ, SYS_clone, 0, 4));
  add((struct sock_filter)LOAD(ARGUMENT(0)));
  add((struct sock_filter)JUMP(JSET, kNewSpaces, 0, 1));
  add((struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | 1));
  add((struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
  if (looks_at_argument) {
    add((struct sock_filter)JUMP(JEQ, SYS_process_vm_readv, 0, 4));
    add((struct sock_filter)LOAD(ARGUMENT(5)));
    add((struct sock_filter)JUMP(JEQ, 0, 1, 0));
    add((struct sock_filter)ANSWER(SECCOMP_RET_KILL_PROCESS));
    add((struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
  }
  for (long number = 0; number < kListed; ++number) {
    if (number == but || number == SYS_clone || number == SYS_ptrace || number == SYS_mount ||
        number == SYS_bpf)
      continue;
    add((struct sock_filter)JUMP(JEQ, (unsigned)number, 0, 1));
    add((struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
  }
  add((struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | 38)); /* ENOSYS */
  return put_filter();
}

static int forbid(void) {
  static const unsigned forbidden[] = {SYS_gettid, SYS_getcpu, SYS_process_vm_readv,
                                       SYS_rt_sigaction, SYS_sched_yield};
  length = 0;
  add((struct sock_filter)LOAD(offsetof(struct seccomp_data, nr)));
  for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; ++i) {
    add((struct sock_filter)JUMP(JEQ, forbidden[i], 0, 1));
    add((struct sock_filter)ANSWER(SECCOMP_RET_KILL_PROCESS));
  }
  add((struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
  return put_filter();
}

static void *filter_again(void *nothing) {
  if (filter_calls(-1, 0) != 0) _exit(8);
  atomic_store(&stop, 1);
  for (;;) pause();
  return nothing;
}

static void *filter_apart(void *nothing) {
  if (forbid() != 0) _exit(8);
  atomic_store(&stop, 1);
  for (;;) pause();
  return nothing;
}

static char room[1 << 16];

static int filter_beside(void *nothing) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)filter_apart(nothing);
  return 0;
}

static int child_calls(long times) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    if (forbid() != 0) _exit(1);
    call_often((void *)times);
    _exit(0);
  }
  return waitpid(child, &status, 0) != child || status != 0;
}

static void on_fault(int number) { _exit(number); }

static pthread_t threads[64];
static int count;

static int begin(void *(*run)(void *), void *argument) {
  return count == 64 || pthread_create(&threads[count++], NULL, run, argument) != 0;
}

static int await_all(void) {
  while (count > 0)
    if (pthread_join(threads[--count], NULL) != 0) return 1;
  return 0;
}

static int obey(void) {
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    const char *space = strchr(line, ' ');
    const long number = space ? atol(space) : 0;
    int wrong = 0;
    switch (line[0]) {
      case 'h': call_often((void *)number); break;
      case 't': wrong = begin(call_often, (void *)number) || await_all(); break;
      case 'b':
        atomic_store(&stop, 0);
        for (long i = 0; i < number; ++i) wrong |= begin(call_always, NULL);
        break;
      case 'i':
        atomic_store(&stop, 1);
        wrong = await_all();
        break;
      case 'f': wrong = forbid(); break;
      case 'c': wrong = child_calls(number); break;
      default: wrong = 1; break;
    }
    if (wrong) return 7;
    printf("%ld\n", atomic_load(&calls));
    fflush(stdout);
  }
  return 0;
}

int main(int argc, char **argv) {
  long but = -1;
  int handles = 0, looks = 0, twice = 0, over = 0, apart = 0, beside = 0;
  if (argc < 2) return 2;
  for (int i = 2; i < argc; ++i) {
    handles |= strcmp(argv[i], "handler") == 0;
    looks |= strcmp(argv[i], "argument") == 0;
    twice |= strcmp(argv[i], "twice") == 0;
    over |= strcmp(argv[i], "over") == 0;
    apart |= strcmp(argv[i], "apart") == 0;
    beside |= strcmp(argv[i], "beside") == 0;
    if (argv[i][0] >= '0' && argv[i][0] <= '9') but = atol(argv[i]);
  }
  if (apart && begin(filter_apart, NULL)) return 5;
  if (beside && clone(filter_beside, room + sizeof room, CLONE_VM | SIGCHLD, NULL) < 0) return 5;
  while ((apart || beside) && !atomic_load(&stop)) sched_yield();
  if (over && filter_calls(-1, 0) != 0) return 9;
  const int launches = strcmp(argv[1], "launcher") == 0;
  if ((launches || strcmp(argv[1], "itself") == 0) && filter_calls(but, looks) != 0) return 9;
  if (launches) {
    argv[1] = "none";
    execv("/proc/self/exe", argv);
    return 6;
  }
  if (handles) signal(SIGSEGV, on_fault);
  if (twice && begin(filter_again, NULL)) return 5;
  while (twice && !atomic_load(&stop)) sched_yield();
  count = 0; /* that one stays */
  printf("%lx\n", (unsigned long)work);
  fflush(stdout);
  return obey();
}
