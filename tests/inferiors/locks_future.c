// All memory to come is locked, and so filled as soon as it is mapped (mlockall, MCL_FUTURE). None
// comes by itself, not even for stdio: so none is locked yet. Calls hit() until standard input
// ends. Says "ready" first; ends with 77 if it may not lock memory.
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

volatile long hits;

__attribute__((noinline)) void hit(void) {
  ++hits;
  __asm__ volatile("nop; nop; nop; nop; nop");
}

int main(void) {
  struct pollfd end = {0, POLLIN, 0};
  if (mlockall(MCL_FUTURE) != 0) return 77;
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 1;
  while (poll(&end, 1, 1) == 0) hit();
  return 0;
}
