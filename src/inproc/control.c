/* The control file: found, or made, when the library is loaded; never looked for again.
 *
 * Folder (meeting.c) and file must be ours alone, or there is no tracing. A program that was given
 * rights of another user does not take part. */
#include <stdio.h>
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

static int has_room(int fd, uint32_t bytes) {
  struct stat about;
  return (look_at(fd, &about) && about.st_size >= (off_t)bytes) || allocate_file(fd, bytes) == 0;
}

/* What is mapped from a descriptor for reading, nobody can make writable (mprotect), as a process
 * that has given up its rights would. */
struct files {
  int control;  /* to read */
  int failures; /* to write to */
};

static int open_ours(int folder, const char* name, uint32_t bytes) {
  const int fd = open_file(folder, name, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || (is_ours_alone(fd) && has_room(fd, bytes))) return fd;
  close_file(fd);
  return -1;
}

/* Once more, to read: -1 if the name has another file by now. */
static int open_again(int folder, const char* name, int fd) {
  const int again = open_file(folder, name, O_RDONLY, 0);
  struct stat about;
  struct stat about_again;
  if (again < 0 || (look_at(fd, &about) && look_at(again, &about_again) &&
                    about.st_dev == about_again.st_dev && about.st_ino == about_again.st_ino))
    return again;
  close_file(again);
  return -1;
}

static int open_in(int folder, struct files* files) {
  char name[sizeof TRACEWELL_FAILURES_NAME + 20];
  struct stat about;
  const int writes = open_ours(folder, TRACEWELL_CONTROL_NAME, TRACEWELL_CONTROL_BYTES);
  if (writes < 0) return 0;
  files->control = open_again(folder, TRACEWELL_CONTROL_NAME, writes);
  close_file(writes);
  if (files->control < 0) return 0;
  files->failures = -1;
  if (look_at(files->control, &about)) {
    snprintf(name, sizeof name, TRACEWELL_FAILURES_NAME "-%llx", (unsigned long long)about.st_ino);
    files->failures = open_ours(folder, name, TRACEWELL_HOOK_PAGE);
  }
  if (files->failures >= 0) return 1;
  close_file(files->control);
  return 0;
}

/* `path`: of the folder, PATH_MAX bytes. */
static int open_control(char* path, struct files* files) {
  const int folder = hold_meeting_place(path, PATH_MAX);
  int opened;
  if (folder < 0) return 0;
  opened = open_in(folder, files);
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

static void map_files(const char* folder, const struct files* files) {
  const size_t rest = TRACEWELL_CONTROL_FAILURES - TRACEWELL_HOOK_PAGE;
  struct tracewell_failures* const failures =
      map(NULL, TRACEWELL_HOOK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, files->failures, 0);
  g_pages = map(NULL, rest, PROT_READ, MAP_SHARED, files->control, TRACEWELL_HOOK_PAGE);
  find_failures(folder, files->control, failures);
  if (g_pages && failures)
    map((void*)(uintptr_t)&tracewell_hooks_control, TRACEWELL_HOOK_PAGE, PROT_READ,
        MAP_SHARED | MAP_FIXED, files->control, 0);
}

__attribute__((constructor)) static void find_control(void) {
  const int before = errno;
  char path[PATH_MAX];
  struct files files;
  /* A linker that copied the page elsewhere must have kept it a page. */
  if (getauxval(AT_SECURE) || !is_one_user() ||
      (uintptr_t)&tracewell_hooks_control % TRACEWELL_HOOK_PAGE != 0)
    return;
  g_user = geteuid();
  if (begin_opening_at_last()) {
    if (open_control(path, &files)) {
      map_files(path, &files);
      close_file(files.control);
      close_file(files.failures);
    }
    end_opening();
  }
  errno = before;
  if (g_pages) prepare_losses();
}
