/* The control file: found, or made, when the library is loaded; never looked for again.
 *
 * It is in $XDG_RUNTIME_DIR/tracewell, or /run/user/UID/tracewell, or /tmp/tracewell-UID: the first
 * whose parent there is. Folder and file must be ours alone, or there is no tracing. /tmp is
 * everybody's: where somebody else has that name it is /tmp/tracewell-UID-NUMBER, which is known by
 * its owner. A program that was given rights of another user does not take part. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "inproc/runtime.h"

#define OTHER_NAME_MAX 64
#define OTHERS_TRIED 16
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

static int is_ours(const char* path) {
  struct stat about;
  return lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && ours_alone(&about);
}

/* Of ours whose names begin with `path` and a dash, the first by name but `not_this`; its name is
 * written to `path`. */
static int find_other(char* path, const char* end, const char* not_this) {
  char* const name = path + sizeof "/tmp/" - 1;
  const size_t length = strlen(name);
  char first[OTHER_NAME_MAX] = "";
  char one[sizeof "/tmp/" + OTHER_NAME_MAX];
  DIR* const folder = opendir("/tmp");
  const struct dirent* entry;
  while (folder && (entry = readdir(folder)) != NULL) {
    if (strncmp(entry->d_name, name, length) != 0 || entry->d_name[length] != '-' ||
        strlen(entry->d_name) >= OTHER_NAME_MAX || (*first && strcmp(entry->d_name, first) > 0))
      continue;
    *put_text(put_text(one, one + sizeof one - 1, "/tmp/"), one + sizeof one - 1, entry->d_name) =
        0;
    if (strcmp(one, not_this) != 0 && is_ours(one)) strcpy(first, entry->d_name);
  }
  if (folder) closedir(folder);
  if (*first) *put_text(name, end, first) = 0;
  return *first != 0;
}

/* Two processes may do so at once: who finds another one takes its own away. */
static int make_other(char* path, const char* end) {
  const size_t usual = strlen(path);
  char other[sizeof "/tmp/" + OTHER_NAME_MAX];
  int tries;
  for (tries = 0; tries < OTHERS_TRIED; ++tries) {
    uint32_t random = 0;
    char* at = put_text(other, other + sizeof other - 16, path);
    call(SYS_getrandom, (long)&random, sizeof random, 0, 0, 0, 0);
    *at++ = '-';
    *put_number(at, other + sizeof other - 1, random) = 0;
    if (mkdir(other, 0700) != 0) continue;
    if (!find_other(path, end, other)) {
      *put_text(path, end, other) = 0;
      return 1;
    }
    rmdir(other);
    if (is_ours(path)) return 1;
    path[usual] = 0;
  }
  return 0;
}

/* `path` is the usual one. Others may have made it, or a link. */
static int find_in_tmp(char* path, const char* end) {
  if (is_ours(path) || find_other(path, end, "") || mkdir(path, 0700) == 0) return 1;
  return make_other(path, end);
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
    *put_number(put_text(path, end, "/tmp/tracewell-"), end, geteuid()) = 0;
    if (!find_in_tmp(path, end)) return 0;
    at = path + strlen(path);
  }
  if (at >= end) return 0;
  *at = 0;
  mkdir(path, 0700);
  if (!is_ours(path)) return 0;
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
