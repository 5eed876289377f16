/* Folders that are held by a descriptor: what is made in one is made there, whatever has its name
 * by then. Paths are walked name by name, as src/base/files/open.cc does it for commands, so that a
 * link is looked at before it is followed. */
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "inproc/runtime.h"

#define LINKS_MAX 40 /* as the system has it */
#define PROC_ROOT 1  /* the inode of /proc itself */

struct walk {
  mode_t kept; /* it ends where others decide what is found; the bits by which they may write */
  int file;   /* the last name may be a file's */
  int at;     /* the folder that was reached */
  char* rest; /* in `text` */
  char* text;
  size_t size;
  int links;
};

int is_one_user(void) {
  uid_t real, effective, saved;
  return getresuid(&real, &effective, &saved) == 0 && real == effective && saved == effective;
}

int is_trusted(uid_t owner) { return is_own_user(owner) || owner == 0; }

static int hold_root(void) { return open_file(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0); }

/* A link of /proc that stands for an open file rather than for the name that it shows. Those in
 * /proc itself, such as /proc/self, are plain ones. */
static int is_open_file_link(int link, int folder) {
  const int before = errno;
  struct statfs system;
  struct stat above;
  const int is_one = fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC &&
                     fstat(folder, &above) == 0 && above.st_ino != PROC_ROOT;
  errno = before;
  return is_one;
}

/* What the link says, and what stood behind its name: that is the rest of the way. */
static int read_link(struct walk* walk, int link) {
  const size_t behind = strlen(walk->rest) + 1;
  char* const tail = walk->text + walk->size - behind;
  const long room = tail - walk->text - 1;
  long got;
  if (room < 1) return -ENAMETOOLONG;
  memmove(tail, walk->rest, behind);
  got = call(SYS_readlinkat, link, (long)"", (long)walk->text, room, 0, 0);
  if (got <= 0 || got == room) return -ENAMETOOLONG;
  walk->text[got] = '/';
  memmove(walk->text + got + 1, tail, behind);
  walk->rest = walk->text;
  return walk->text[0] == '/' ? hold_root() : walk->at;
}

/* `name` in the folder is no folder. Where the way goes on: there, or in another folder. */
static int follow(struct walk* walk, const char* name) {
  const int link = open_file(walk->at, name, O_PATH, 0);
  struct stat about;
  int to;
  if (link < 0) return link;
  if (!look_at(link, &about))
    to = -EIO;
  else if (!S_ISLNK(about.st_mode))
    to = walk->file && *walk->rest == 0 && S_ISREG(about.st_mode)
             ? open_file(walk->at, name, O_RDONLY | O_NONBLOCK, 0)
             : -ENOTDIR;
  else if (!is_trusted(about.st_uid))
    to = SOMEBODY_ELSES;
  else if (++walk->links > LINKS_MAX)
    to = -ELOOP;
  else if (is_open_file_link(link, walk->at))
    to = (int)call(SYS_openat, walk->at, (long)name, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
  else
    to = read_link(walk, link);
  close_file(link);
  return to;
}

static int is_others_number(const char* name) {
  const size_t digits = strspn(name, "0123456789");
  return digits > 0 && !name[digits] && strtoull(name, NULL, 10) != geteuid();
}

/* /run/user/UID is there while that user is. */
static int is_others_runtime(int folder, const char* name) {
  char path[] = "/run/user";
  struct stat one;
  struct stat other;
  int runtimes;
  int is_one;
  if (!is_others_number(name)) return 0;
  runtimes = hold_folder(path, sizeof path);
  if (runtimes < 0) return 0;
  is_one = look_at(runtimes, &one) && look_at(folder, &other) && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
  close_file(runtimes);
  return is_one;
}

/* In a user namespace, root's folders are nobody's that has a number there: so who has that of the
 * whole system is root. */
static int keeps_system(uid_t owner) {
  const int root = hold_root();
  struct stat about;
  const int is_one = is_trusted(owner) || (look_at(root, &about) && about.st_uid == owner);
  close_file(root);
  return is_one;
}

/* Does somebody else decide what has that name in the folder? Where they may put files, they may
 * have put one of this user's there; a folder of this user's is not moved so easily. */
static int is_others(const struct walk* walk, const char* name) {
  const int folder = walk->at;
  struct stat about;
  int shared;
  int fd;
  int theirs;
  if (!look_at(folder, &about) || !keeps_system(about.st_uid)) return 1;
  shared = (about.st_mode & walk->kept) != 0;
  if (shared && ((about.st_mode & S_ISVTX) == 0 || (walk->file && *walk->rest == 0))) return 1;
  if (is_others_runtime(folder, name)) return 1;
  fd = open_file(folder, name, O_PATH, 0);
  if (fd < 0) return shared; /* they may make it, and take it away */
  theirs = !look_at(fd, &about) || !keeps_system(about.st_uid);
  close_file(fd);
  return theirs;
}

static int hold(struct walk* walk) {
  while (walk->at >= 0) {
    char* const name = walk->rest + strspn(walk->rest, "/");
    char* const end = name + strcspn(name, "/");
    int next;
    if (name == end) return walk->at;
    walk->rest = *end ? end + 1 : end;
    *end = 0;
    /* A folder that is mounted when somebody looks into it is mounted now. */
    next = walk->kept && is_others(walk, name)
               ? SOMEBODY_ELSES
               : open_file(walk->at, name, O_PATH | O_DIRECTORY, 0);
    if (next == -ENOTDIR || next == -ELOOP) next = follow(walk, name);
    if (next != walk->at) close_file(walk->at);
    walk->at = next;
  }
  return walk->at;
}

int hold_folder(char* path, size_t size) {
  struct walk walk = {0, 0, hold_root(), path, path, size, 0};
  return hold(&walk);
}

int hold_kept_folder(char* path, size_t size) {
  struct walk walk = {0022, 0, hold_root(), path, path, size, 0};
  return hold(&walk);
}

static int open_by(mode_t kept, char* path, size_t size) {
  const int from = *path == '/' ? hold_root() : open_file(AT_FDCWD, ".", O_PATH | O_DIRECTORY, 0);
  struct walk walk = {kept, 1, from, path, path, size, 0};
  const int fd = hold(&walk);
  struct stat about;
  /* It may be another one since it was looked at. */
  if (fd < 0 || (look_at(fd, &about) && S_ISREG(about.st_mode) && is_trusted(about.st_uid)))
    return fd;
  close_file(fd);
  return SOMEBODY_ELSES;
}

int open_trusted(char* path, size_t size) { return open_by(0, path, size); }

int open_kept(char* path, size_t size) { return open_by(0002, path, size); }

int hold_inside(int folder, const char* name) {
  const int fd = open_file(folder, name, O_PATH, 0);
  struct stat about;
  int wrong;
  if (fd < 0) return fd;
  if (!look_at(fd, &about))
    wrong = -EIO;
  else if (S_ISDIR(about.st_mode) && is_own_user(about.st_uid))
    return fd;
  else
    wrong = is_trusted(about.st_uid) ? -EACCES : SOMEBODY_ELSES;
  close_file(fd);
  return wrong;
}

int make_inside(int folder, const char* name) {
  make_folder(folder, name);
  return hold_inside(folder, name);
}
