/* Where programs and commands of a user meet: the folder of the control file. Each looks for it by
 * itself, so both go by one rule, which docs/decisions/0008-trace-hooks.md has; here are programs,
 * and src/hooks/control_folder.cc is for commands. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inproc/runtime.h"

#define NAME_BYTES 64 /* of a folder in /tmp */
#define OTHERS_TRIED 16
#define FOLDER "/tracewell"

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

static int is_closed(int fd) {
  struct stat about;
  return look_at(fd, &about) && (about.st_mode & 0077) == 0;
}

/* What is made in it under a name keeps that, unless this user, root or its owner changes it. */
static int keeps_names(const struct stat* about) {
  return is_trusted(about->st_uid) &&
         ((about->st_mode & 0022) == 0 || (about->st_mode & S_ISVTX) != 0);
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
  parent = hold_folder(walked, sizeof walked);
  if (parent < 0) return ours ? SOMEBODY_ELSES : parent;
  if (look_at(parent, &about) && keeps_names(&about) && (!ours || about.st_uid == geteuid()))
    fd = make_inside(parent, FOLDER + 1);
  close_file(parent);
  memcpy(at, FOLDER, sizeof FOLDER);
  return fd;
}

/* One that is this user's alone. */
static int hold_ours(int tmp, const char* name) {
  const int fd = hold_inside(tmp, name);
  if (fd < 0 || is_closed(fd)) return fd;
  close_file(fd);
  return -EACCES;
}

/* Of ours whose names begin with `name` and a dash, the first by name but `not_this`; its name is
 * written to `name`. */
static int hold_other(int tmp, char* name, const char* not_this) {
  const size_t length = strlen(name);
  const int again = open_file(tmp, ".", O_RDONLY | O_DIRECTORY, 0);
  DIR* const folder = again < 0 ? NULL : fdopendir(again);
  const struct dirent* entry;
  char first[NAME_BYTES] = "";
  int held = -1;
  while (folder && (entry = readdir(folder)) != NULL) {
    int one;
    if (strncmp(entry->d_name, name, length) != 0 || entry->d_name[length] != '-' ||
        strlen(entry->d_name) >= NAME_BYTES || strcmp(entry->d_name, not_this) == 0 ||
        (held >= 0 && strcmp(entry->d_name, first) > 0))
      continue;
    one = hold_ours(tmp, entry->d_name);
    if (one < 0) continue;
    if (held >= 0) close_file(held);
    held = one;
    strcpy(first, entry->d_name);
  }
  if (folder) closedir(folder);
  else if (again >= 0) close_file(again);
  if (held >= 0) strcpy(name, first);
  return held;
}

/* Two processes may do so at once: who finds another one takes its own away. */
static int make_other(int tmp, char* name) {
  int tries;
  for (tries = 0; tries < OTHERS_TRIED; ++tries) {
    char other[NAME_BYTES];
    const char* const end = other + sizeof other - 1;
    uint32_t random = 0;
    int theirs;
    call(SYS_getrandom, (long)&random, sizeof random, 0, 0, 0, 0);
    *put_number(put_text(put_text(other, end, name), end, "-"), end, random) = 0;
    if (make_folder(tmp, other) != 0) continue;
    theirs = hold_other(tmp, name, other);
    if (theirs < 0) {
      strcpy(name, other);
      return hold_ours(tmp, name);
    }
    remove_file(tmp, other, AT_REMOVEDIR);
    return theirs;
  }
  return -EEXIST;
}

/* `name` is the usual one. Others may have made it, or a link. */
static int hold_in_tmp(int tmp, char* name) {
  int fd = hold_ours(tmp, name);
  if (fd < 0) fd = hold_other(tmp, name, "");
  if (fd < 0 && make_folder(tmp, name) == 0) fd = hold_ours(tmp, name);
  return fd < 0 ? make_other(tmp, name) : fd;
}

static int find_in_tmp(char* path, const char* end) {
  char name[NAME_BYTES];
  char walked[PATH_MAX] = "/tmp";
  const int tmp = hold_folder(walked, sizeof walked);
  int fd;
  if (tmp < 0) return tmp;
  *put_number(put_text(name, name + sizeof name, "tracewell-"), name + sizeof name, geteuid()) = 0;
  fd = hold_in_tmp(tmp, name);
  close_file(tmp);
  *put_text(put_text(path, end, "/tmp/"), end, name) = 0;
  return fd;
}

int hold_meeting_place(char* path, size_t size) {
  const char* const end = path + size - 1;
  const char* const runtime = secure_getenv("XDG_RUNTIME_DIR");
  int fd = SOMEBODY_ELSES;
  if (!is_own_user(geteuid())) return fd;
  if (runtime && runtime[0] == '/') fd = hold_in(path, put_text(path, end, runtime), end, 0);
  if (fd == SOMEBODY_ELSES)
    fd = hold_in(path, put_number(put_text(path, end, "/run/user/"), end, geteuid()), end, 1);
  if (fd == SOMEBODY_ELSES) fd = find_in_tmp(path, end);
  if (fd < 0 || is_closed(fd)) return fd;
  close_file(fd);
  return -EACCES;
}
