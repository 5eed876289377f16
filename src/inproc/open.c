/* Files are opened beside the standard ones. A program may have been started without these, or have
 * closed them, and prints all the same: that must not get into a file of ours that has the number
 * for a moment. */
#include <string.h>
#include <sys/stat.h>

#include "inproc/runtime.h"

#define HIGH_NUMBER 512
#define UNMAPPED_USER 65534 /* /proc/sys/kernel/overflowuid, which nobody changes */

static int open_now(int folder, const char* name, int flags, int mode) {
  return (int)call(SYS_openat, folder, (long)name, flags | O_CLOEXEC | O_NOFOLLOW | O_LARGEFILE,
                   mode, 0, 0);
}

int look_at(int fd, struct stat* about) {
  const int before = errno;
  const int failed = fstat(fd, about);
  errno = before;
  return failed == 0;
}

/* One line, as the kernel writes it where each user has a number. Else, or where there is no /proc,
 * one number may stand for many users. user_namespaces(7) */
static int some_users_are_unmapped(void) {
  static const char all[] = "         0          0 4294967295\n";
  char text[sizeof all];
  const int fd = open_file(AT_FDCWD, "/proc/self/uid_map", O_RDONLY, 0);
  long got;
  if (fd < 0) return 1;
  got = call(SYS_read, fd, (long)text, sizeof text, 0, 0, 0);
  close_file(fd);
  return got != (long)sizeof all - 1 || memcmp(text, all, sizeof all - 1) != 0;
}

int is_own_user(uid_t owner) {
  return owner == geteuid() && !(owner == UNMAPPED_USER && some_users_are_unmapped());
}

static void give_rights(int fd) {
  struct stat about;
  if (look_at(fd, &about) && is_own_user(about.st_uid) && (about.st_mode & 0600) != 0600)
    call(SYS_fchmod, fd, (long)((about.st_mode & 07777) | 0600), 0, 0, 0, 0);
}

static int is_of_name(int fd, int folder, const char* name) {
  struct stat about;
  struct stat named;
  const int before = errno;
  const int failed = fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW);
  errno = before;
  return failed == 0 && look_at(fd, &about) && about.st_dev == named.st_dev &&
         about.st_ino == named.st_ino;
}

/* Another thread of the program may close numbers that it does not know, such as this one, and get
 * it again for a file of its own. open(2) gives the lowest that is free: nobody gets a high one so
 * soon. What would be written to, or mapped, has one, and is known by its name. The low one is
 * closed then, if it was that file a moment ago. */
static int by_high_number(int fd, int folder, const char* name) {
  int from;
  int high = -EINVAL;
  for (from = HIGH_NUMBER; from > STDERR_FILENO && (high == -EINVAL || high == -EMFILE); from /= 2)
    high = (int)call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from, 0, 0, 0);
  if (high == -EBADF) return -ESTALE;
  if (high < 0) return fd; /* it was the last one that there may be */
  if (is_of_name(high, folder, name)) {
    if (is_of_name(fd, folder, name)) close_file(fd);
    return high;
  }
  close_file(high);
  return -ESTALE;
}

int open_file(int folder, const char* name, int flags, int mode) {
  int low[STDERR_FILENO + 1];
  int count = 0;
  int fd = -1;
  if (flags & O_PATH) return open_now(folder, name, flags, mode);
  /* These can be neither read nor written. */
  while (count <= STDERR_FILENO) {
    fd = open_now(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
    if (fd < 0 || fd > STDERR_FILENO) break;
    low[count++] = fd;
  }
  if (fd > STDERR_FILENO) close_file(fd);
  fd = open_now(folder, name, flags, mode);
  if (fd >= 0 && (flags & O_ACCMODE) == O_RDWR) fd = by_high_number(fd, folder, name);
  while (count > 0) close_file(low[--count]);
  if (fd >= 0 && flags & O_CREAT) give_rights(fd);
  return fd;
}

int make_folder(int folder, const char* name) {
  const int wrong = (int)call(SYS_mkdirat, folder, (long)name, 0700, 0, 0, 0);
  const int fd = wrong == 0 ? open_now(folder, name, O_PATH | O_DIRECTORY, 0) : -1;
  struct stat about;
  /* Nobody else may exchange what is in it, or this is for nobody. */
  if (fd >= 0 && look_at(fd, &about) && is_own_user(about.st_uid) &&
      (about.st_mode & 0700) != 0700)
    call(SYS_fchmodat, folder, (long)name, 0700, 0, 0, 0);
  if (fd >= 0) close_file(fd);
  return wrong;
}
