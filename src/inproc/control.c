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
static uid_t g_user; /* whose they are */

const uint8_t* control_pages(void) { return g_pages; }

int is_user_of_control(void) { return is_one_user() && geteuid() == g_user; }

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

/* The file twice. What may not be written to is mapped from a descriptor that is for reading: of
 * another, a process that has given up its rights could make it writable (mprotect). */
struct both {
  int reads;
  int writes;
};

static int is_one_file(int one, int other) {
  struct stat about;
  struct stat about_other;
  return look_at(one, &about) && look_at(other, &about_other) &&
         about.st_dev == about_other.st_dev && about.st_ino == about_other.st_ino;
}

static int open_in(int folder, struct both* control) {
  control->writes = open_file(folder, TRACEWELL_CONTROL_NAME, O_RDWR | O_CREAT, 0600);
  if (control->writes < 0) return 0;
  control->reads = -1;
  if (is_ours_alone(control->writes) && has_room(control->writes))
    control->reads = open_file(folder, TRACEWELL_CONTROL_NAME, O_RDONLY, 0);
  if (control->reads >= 0 && is_one_file(control->reads, control->writes)) return 1;
  if (control->reads >= 0) close_file(control->reads);
  close_file(control->writes);
  return 0;
}

/* `path`: of the folder, PATH_MAX bytes. */
static int open_control(char* path, struct both* control) {
  const int folder = hold_meeting_place(path, PATH_MAX);
  int opened;
  if (folder < 0) return 0;
  opened = open_in(folder, control);
  close_file(folder);
  return opened;
}

/* In a session that runs. */
static void prepare_losses(void) {
  unsigned i;
  for (i = 0; geteuid() == 0 && i < TRACEWELL_HOOK_CHANNELS; ++i)
    if (channel_at(i)->active) {
      begin_losses(channel_at(i)->session);
      return;
    }
}

__attribute__((constructor)) static void find_control(void) {
  const size_t rest = TRACEWELL_CONTROL_FAILURES - TRACEWELL_HOOK_PAGE;
  const int before = errno;
  char path[PATH_MAX];
  struct both control;
  struct tracewell_failures* failures;
  int opened;
  /* A linker that copied the page elsewhere must have kept it a page. */
  if (getauxval(AT_SECURE) || !is_one_user() ||
      (uintptr_t)&tracewell_hooks_control % TRACEWELL_HOOK_PAGE != 0)
    return;
  g_user = geteuid();
  opened = open_control(path, &control);
  errno = before;
  if (!opened) return;
  g_pages = map(NULL, rest, PROT_READ, MAP_SHARED, control.reads, TRACEWELL_HOOK_PAGE);
  failures = map(NULL, TRACEWELL_HOOK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, control.writes,
                 TRACEWELL_CONTROL_FAILURES);
  find_failures(path, control.reads, failures);
  if (g_pages && failures)
    map((void*)(uintptr_t)&tracewell_hooks_control, TRACEWELL_HOOK_PAGE, PROT_READ,
        MAP_SHARED | MAP_FIXED, control.reads, 0);
  close_file(control.reads);
  close_file(control.writes);
  if (g_pages) prepare_losses();
}
