// Code that does not stay as it is. argv[1]:
//   library  is loaded and unloaded, by turns
//   itself   is written over by the program, with the bytes that it had in the beginning
//   other    the same, with other code that computes the same
// build: -D_GNU_SOURCE
// libs: -ldl
// Between two turns it waits until its code has a tracepoint again, or for 100 ms where it is to
// have none. Exits with 0 when all was computed right.
#include <dlfcn.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kTurns = 5, kCalls = 10 };

__attribute__((noinline, noclone)) long pass(long n) { return n * 3 + 1; }

static uint8_t bytes[32];

/* Before main(), where the test sets tracepoints: these are the program's own. A load with a fixed
   address would tell that they are read, and have a trap there. */
__attribute__((constructor)) static void remember(void) {
  long (*volatile code)(long) = pass;
  memcpy(bytes, (const void *)(uintptr_t)code, sizeof bytes);
}

/* Until the code is not as it was, but no longer than a test may take. */
static void await_change(const uint8_t *code, const uint8_t *was, size_t size) {
  for (int i = 0; i < 30000 && memcmp(code, was, size) == 0; ++i) usleep(1000);
}

static int itself(int is_other) {
  uint8_t *const code = (uint8_t *)(uintptr_t)pass;
  const uintptr_t page = (uintptr_t)code & ~(uintptr_t)4095;
  /* lea 1(%rdi,%rdi,2), %rax; ret; and what no thread shall come to */
  static const uint8_t other[] = {0x48, 0x8d, 0x44, 0x7f, 0x01, 0xc3, 0x0f, 0x0b, 0x0f, 0x0b};
  mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
  long wrong = 0;
  for (long turn = 0; turn < kTurns; ++turn) {
    if (is_other)
      usleep(100000);
    else
      await_change(code, bytes, sizeof bytes);
    for (long n = turn * kCalls; n < (turn + 1) * kCalls; ++n) wrong += pass(n) != n * 3 + 1;
    memcpy(code, bytes, sizeof bytes);
    if (is_other) memcpy(code, other, sizeof other);
  }
  return wrong != 0;
}

/* The code that a library's file has there: its first megabytes are mapped as they stand. */
static int in_file(const char *name, const void *code, uint8_t *bytes, size_t size) {
  Dl_info info;
  FILE *const file = fopen(name, "rb");
  const int is_known = file && dladdr(code, &info);
  const long offset = is_known ? (long)((uintptr_t)code - (uintptr_t)info.dli_fbase) : 0;
  const int got = is_known && fseek(file, offset, SEEK_SET) == 0 && fread(bytes, size, 1, file);
  if (file) fclose(file);
  return got;
}

void loaded(void *library) { (void)library; }

static int library(const char *program) {
  char path[4096];
  snprintf(path, sizeof path, "%s", program);
  char *const folder = dirname(path);
  char name[5000];
  snprintf(name, sizeof name, "%s/libdaily.so", folder);
  for (long turn = 0; turn < kTurns; ++turn) {
    void *const handle = dlopen(name, RTLD_NOW);
    if (!handle) return 3;
    void (*const own)(void) = (void (*)(void))dlsym(handle, "library_own");
    if (!own) return 4;
    uint8_t was[16];
    if (!in_file(name, (const void *)(uintptr_t)own, was, sizeof was)) return 5;
    loaded(handle);
    await_change((const uint8_t *)(uintptr_t)own, was, sizeof was);
    for (long i = 0; i < kCalls; ++i) own();
    dlclose(handle);
  }
  return 0;
}

void finished(int code) { _exit(code); }

int main(int argc, char **argv) {
  finished(argc < 2 ? 2 : strcmp(argv[1], "library") ? itself(!strcmp(argv[1], "other"))
                                                    : library(argv[0]));
}
