/* Which process this is: drawn before its first ring is made. */
#include <sys/random.h>

#include "inproc/runtime.h"

#define TEXT_BYTES 512
#define BOOT_DIGITS 16
#define START_FIELD 22 /* of /proc/PID/stat, from 1. proc(5) */

/* Bytes that were read; 0 = none. */
static long read_text(const char* path, char* text) {
  const int fd = open_file(AT_FDCWD, path, O_RDONLY, 0);
  long got;
  if (fd < 0) return 0;
  got = call(SYS_read, fd, (long)text, TEXT_BYTES, 0, 0, 0);
  close_file(fd);
  return got > 0 ? got : 0;
}

/* /proc/sys/kernel/random/boot_id: hexadecimal digits, and dashes between some. */
static uint64_t read_boot(void) {
  char text[TEXT_BYTES];
  const long got = read_text("/proc/sys/kernel/random/boot_id", text);
  uint64_t out = 0;
  int digits = 0;
  long at;
  for (at = 0; at < got && digits < BOOT_DIGITS; ++at) {
    const char c = text[at];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) continue;
    out = out << 4 | (uint64_t)digit;
    ++digits;
  }
  return digits == BOOT_DIGITS ? out : 0;
}

/* The second field is the program's name between brackets, and may have brackets and blanks. */
static uint64_t read_start(void) {
  char text[TEXT_BYTES];
  const long got = read_text("/proc/self/stat", text);
  uint64_t out = 0;
  int field = 2;
  long at = got;
  while (at > 0 && text[at - 1] != ')') --at;
  if (at == 0) return 0;
  for (; at < got && field < START_FIELD; ++at) field += text[at] == ' ';
  for (; at < got && text[at] >= '0' && text[at] <= '9'; ++at)
    out = out * 10 + (uint64_t)(text[at] - '0');
  return out;
}

/* Zero says that nothing was drawn. Where the kernel has no random numbers, time and place must
 * do. */
static uint32_t draw(const void* place) {
  uint32_t out = 0;
  if (call(SYS_getrandom, (long)&out, sizeof out, GRND_NONBLOCK, 0, 0, 0) != sizeof out)
    out = (uint32_t)tracewell_ticks() * 2654435761u ^ process_id() << 16 ^
          (uint32_t)(uintptr_t)place;
  return out ? out : 1;
}

void find_identity(struct identity* one) {
  int i;
  if (__atomic_load_n(&one->random[1], __ATOMIC_ACQUIRE) != 0) return;
  /* Whoever does this at the same time stores the same. */
  one->boot = read_boot();
  one->start = read_start();
  for (i = 0; i < 2; ++i) {
    uint32_t none = 0;
    __atomic_compare_exchange_n(&one->random[i], &none, draw(one), 0, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
  }
}
