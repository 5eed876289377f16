/* The control file: found, or made, when the library is loaded; never looked for again.
 *
 * It is in $XDG_RUNTIME_DIR/tracewell, or /run/user/UID/tracewell, or /tmp/tracewell-UID: the first
 * whose parent there is. /tmp is everybody's, so folder and file must be ours alone, or there is no
 * tracing. A program that was given rights of another user does not take part. */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "inproc/runtime.h"

#define WHOLE_PAGES __attribute__((aligned(TRACEWELL_HOOK_PAGE)))

union control_page {
  struct tracewell_control control;
  uint8_t bytes[TRACEWELL_HOOK_PAGE];
};
/* Page 0 of the file is mapped over it. The name is that of its first member. */
WHOLE_PAGES union control_page tracewell_hooks_page __asm__("tracewell_hooks_control");

static const uint8_t* g_pages;
static struct tracewell_failures* g_failures;

const uint8_t* control_pages(void) { return g_pages; }

void count_failure(unsigned channel) {
  if (channel >= TRACEWELL_HOOK_CHANNELS) {
    __atomic_fetch_add(&component_at(channel - TRACEWELL_HOOK_CHANNELS)->lost, 1,
                       __ATOMIC_RELAXED);
    return;
  }
  if (g_failures) __atomic_fetch_add(&g_failures->lost[channel], 1, __ATOMIC_RELAXED);
}

static char* put_text(char* at, const char* end, const char* text) {
  while (*text && at < end) *at++ = *text++;
  return at;
}

static char* put_number(char* at, const char* end, unsigned number) {
  char digits[12];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  while (count > 0 && at < end) *at++ = digits[--count];
  return at;
}

static int ours_alone(const struct stat* about) {
  return about->st_uid == geteuid() && (about->st_mode & 0077) == 0;
}

size_t find_folder(char* path, size_t size) {
  const char* end = path + size - sizeof TRACEWELL_CONTROL_NAME - 2;
  const char* runtime = secure_getenv("XDG_RUNTIME_DIR");
  struct stat about;
  char* at = path;
  if (runtime && runtime[0] == '/') {
    at = put_text(at, end, runtime);
  } else {
    at = put_number(put_text(path, end, "/run/user/"), end, geteuid());
    *at = 0;
    if (stat(path, &about) != 0 || about.st_uid != geteuid()) at = NULL;
  }
  if (at) {
    at = put_text(at, end, "/tracewell");
  } else {
    at = put_number(put_text(path, end, "/tmp/tracewell-"), end, geteuid());
  }
  if (at >= end) return 0;
  *at = 0;
  mkdir(path, 0700);
  if (lstat(path, &about) != 0 || !S_ISDIR(about.st_mode) || !ours_alone(&about)) return 0;
  *at++ = '/';
  return (size_t)(at - path);
}

static int open_control(void) {
  char path[4096];
  const size_t length = find_folder(path, sizeof path);
  struct stat about;
  int fd;
  if (length == 0) return -1;
  memcpy(path + length, TRACEWELL_CONTROL_NAME, sizeof TRACEWELL_CONTROL_NAME);
  fd = open_file(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0) return -1;
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && ours_alone(&about) &&
      (about.st_size >= (off_t)TRACEWELL_CONTROL_BYTES ||
       allocate_file(fd, TRACEWELL_CONTROL_BYTES) == 0))
    return fd;
  close_file(fd);
  return -1;
}

__attribute__((constructor)) static void find_control(void) {
  const size_t rest = TRACEWELL_CONTROL_FAILURES - TRACEWELL_HOOK_PAGE;
  const int before = errno;
  int fd;
  /* A linker that copied the page elsewhere must have kept it a page. */
  if (getauxval(AT_SECURE) || (uintptr_t)&tracewell_hooks_control % TRACEWELL_HOOK_PAGE != 0)
    return;
  fd = open_control();
  errno = before;
  if (fd < 0) return;
  g_pages = map(NULL, rest, PROT_READ, MAP_SHARED, fd, TRACEWELL_HOOK_PAGE);
  g_failures = map(NULL, TRACEWELL_HOOK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                   TRACEWELL_CONTROL_FAILURES);
  if (g_pages && g_failures)
    map((void*)(uintptr_t)&tracewell_hooks_control, TRACEWELL_HOOK_PAGE, PROT_READ,
        MAP_SHARED | MAP_FIXED, fd, 0);
  close_file(fd);
}
