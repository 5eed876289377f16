// Trace hooks in coroutines: prints how many bytes of the stack the first one needs, and the second
// one. With the word "adopt": those of a thread that takes over the ring of one that has ended, and
// fills it.
// libs: -lrts
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/trchkid.h>
#include <ucontext.h>

enum { kStackBytes = 1 << 16, kPaint = 0x5a, kMany = 1 << 20 };
static unsigned char stack[kStackBytes] __attribute__((aligned(64)));
static ucontext_t caller, guest;
static int hooks;

static void fire(void) {
  int i;
  for (i = 0; i < hooks; ++i) TRCHKL1(HKWD_USER1, i);
}

static int bytes_of(int count) {
  int unused = 0;
  hooks = count;
  memset(stack, kPaint, sizeof stack);
  getcontext(&guest);
  guest.uc_stack.ss_sp = stack;
  guest.uc_stack.ss_size = sizeof stack;
  guest.uc_link = &caller;
  makecontext(&guest, fire, 0);
  swapcontext(&caller, &guest);
  while (unused < kStackBytes && stack[unused] == kPaint) ++unused;
  return kStackBytes - unused;
}

static void *first(void *unused) {
  TRCHKL1(HKWD_USER1, 1);
  return unused;
}

static void *second(void *unused) {
  printf("%d\n", bytes_of(kMany));
  return unused;
}

static void run(void *(*what)(void *)) {
  pthread_t thread;
  pthread_create(&thread, NULL, what, NULL);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "adopt") == 0) {
    run(first);
    run(second);
    return 0;
  }
  printf("%d\n", bytes_of(1));
  printf("%d\n", bytes_of(1));
  return 0;
}
