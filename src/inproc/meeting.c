/* Where programs and commands of a user meet: the folder of the control file. Each looks for it by
 * itself, so both go by one rule, which docs/decisions/0008-trace-hooks.md has; here are programs,
 * and src/hooks/control/control_folder.cc is for commands. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inproc/runtime.h"

#define FOLDER "/tracewell"

static char* put_text(char* at, const char* end, const char* text) {
  while (*text && at < end) *at++ = *text++;
  return at;
}

static char* put_runtime_folder(char* at, const char* end) {
  char digits[11];
  *put_decimal(digits, geteuid()) = 0;
  return put_text(put_text(at, end, "/run/user/"), end, digits);
}

static int is_closed(int fd) {
  struct stat about;
  return look_at(fd, &about) && (about.st_mode & 0077) == 0;
}

/* Nobody but this user and root, or its owner among these, has any say in what is there. */
static int is_kept(const struct stat* about) {
  return is_trusted(about->st_uid) && (about->st_mode & 0022) == 0;
}

/* The folder in the one that `path` names up to `at`. `ours`: that one must be this user's, or it
 * is passed over. */
static int hold_in(char* path, char* at, const char* end, int ours) {
  char walked[PATH_MAX];
  struct stat about;
  const size_t length = (size_t)(at - path);
  int parent;
  int fd = SOMEBODY_ELSES;
  if (at + sizeof FOLDER > end) return -ENAMETOOLONG;
  memcpy(walked, path, length);
  walked[length] = 0;
  parent = hold_kept_folder(walked, sizeof walked);
  if (parent < 0) return ours ? SOMEBODY_ELSES : parent;
  if (look_at(parent, &about) && is_kept(&about) && (!ours || about.st_uid == geteuid()))
    fd = make_inside(parent, FOLDER + 1);
  close_file(parent);
  memcpy(at, FOLDER, sizeof FOLDER);
  return fd;
}

static int find_in_tmp(char* path, const char* end) {
  char name[NAME_MAX + 1];
  const int fd = hold_in_tmp(name, sizeof name);
  *put_text(put_text(path, end, "/tmp/"), end, name) = 0;
  return fd;
}

int hold_meeting_place(char* path, size_t size) {
  const char* const end = path + size - 1;
  const char* const runtime = secure_getenv("XDG_RUNTIME_DIR");
  int fd = SOMEBODY_ELSES;
  if (!is_own_user(geteuid())) return fd;
  if (runtime && runtime[0] == '/') fd = hold_in(path, put_text(path, end, runtime), end, 0);
  if (fd == SOMEBODY_ELSES) fd = hold_in(path, put_runtime_folder(path, end), end, 1);
  if (fd == SOMEBODY_ELSES) fd = find_in_tmp(path, end);
  if (fd < 0 || is_closed(fd)) return fd;
  close_file(fd);
  return -EACCES;
}
