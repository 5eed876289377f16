/* Which process this is: found before its first ring is made. */
#include <string.h>
#include <sys/auxv.h>
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

static uint64_t rotated(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

static void mix(uint64_t v[4], int rounds) {
  while (rounds-- > 0) {
    v[0] += v[1], v[2] += v[3];
    v[1] = rotated(v[1], 13) ^ v[0], v[3] = rotated(v[3], 16) ^ v[2];
    v[0] = rotated(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = rotated(v[1], 17) ^ v[2], v[3] = rotated(v[3], 21) ^ v[0];
    v[2] = rotated(v[2], 32);
  }
}

/* SipHash-2-4 (Aumasson and Bernstein, 2012) of two whole words. */
static uint64_t sip_hash(const uint64_t key[2], const uint64_t text[2]) {
  uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                   key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
  const uint64_t words[3] = {text[0], text[1], (uint64_t)16 << 56};
  int i;
  for (i = 0; i < 3; ++i) {
    v[3] ^= words[i];
    mix(v, 2);
    v[0] ^= words[i];
  }
  v[2] ^= 0xff;
  mix(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* A program may have this library more than once, in itself and in libraries of its own: each copy
 * finds the same. What the kernel has drawn for the program (getauxval(3), AT_RANDOM) guards its
 * stack, and is not to be found from what rings say. 0: there is none. */
static uint64_t found(const struct identity* one) {
  const uint64_t text[2] = {process_id(), one->start};
  const void* const drawn = (const void*)getauxval(AT_RANDOM);
  uint64_t key[2];
  if (!drawn || one->start == 0) return 0;
  memcpy(key, drawn, sizeof key);
  return sip_hash(key, text);
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
  uint64_t both;
  int i;
  if (__atomic_load_n(&one->random[1], __ATOMIC_ACQUIRE) != 0) return;
  /* Whoever does this at the same time stores the same. */
  one->boot = read_boot();
  one->start = read_start();
  both = found(one);
  for (i = 0; i < 2; ++i) {
    const uint32_t half = (uint32_t)(both >> 32 * i);
    uint32_t none = 0;
    __atomic_compare_exchange_n(&one->random[i], &none, half ? half : draw(one), 0,
                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }
}
