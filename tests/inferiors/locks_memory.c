// locks_memory WHAT: locks memory, and calls hit() until standard input ends. Says "ready" first;
// ends with 77 if it may not lock memory.
//   future  all memory to come is locked, and so filled as soon as it is mapped (mlockall,
//           MCL_FUTURE). None comes by itself, not even for stdio: so none is locked yet.
//   buffer  a buffer is locked (mlock)
//   code    so is the program's own code
//   all     all that there is, and all memory to come (MCL_CURRENT | MCL_FUTURE)
//   onfault the same, but memory to come is filled when it is touched (MCL_ONFAULT)
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096, kBufferBytes = 32 * kPage };

volatile long hits;
static char buffer[kBufferBytes] __attribute__((aligned(4096)));

__attribute__((noinline)) void hit(void) {
  ++hits;
  __asm__ volatile("nop; nop; nop; nop; nop");
}

static int lock(const char* what) {
  if (strcmp(what, "future") == 0) return mlockall(MCL_FUTURE);
  if (strcmp(what, "buffer") == 0) return mlock(buffer, sizeof buffer);
  if (strcmp(what, "code") == 0) return mlock((void*)((uintptr_t)hit & -kPage), kPage);
  if (strcmp(what, "all") == 0) return mlockall(MCL_CURRENT | MCL_FUTURE);
  if (strcmp(what, "onfault") == 0) return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
  return 1;
}

int main(int count, char** words) {
  struct pollfd end = {0, POLLIN, 0};
  if (lock(count > 1 ? words[1] : "") != 0) return 77;
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 1;
  while (poll(&end, 1, 1) == 0) hit();
  return 0;
}
