/* The control file: found, or made, when the library is loaded; never looked for again.
 *
 * Folder (meeting.c) and file must be ours alone, or there is no tracing. A program that was given
 * rights of another user does not take part. */
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

static int is_ours_alone(int fd) {
  struct stat about;
  return look_at(fd, &about) && S_ISREG(about.st_mode) && is_own_user(about.st_uid) &&
         (about.st_mode & 0077) == 0;
}

static int has_room(int fd) {
  struct stat about;
  return (look_at(fd, &about) && about.st_size >= (off_t)TRACEWELL_CONTROL_BYTES) ||
         allocate_file(fd, TRACEWELL_CONTROL_BYTES) == 0;
}

static int open_control(void) {
  char path[PATH_MAX];
  const int folder = hold_meeting_place(path, sizeof path);
  int fd;
  if (folder < 0) return -1;
  fd = open_file(folder, TRACEWELL_CONTROL_NAME, O_RDWR | O_CREAT, 0600);
  close_file(folder);
  if (fd < 0 || (is_ours_alone(fd) && has_room(fd))) return fd;
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
