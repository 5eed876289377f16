/* Files are opened beside the standard ones. A program may have been started without these, or have
 * closed them, and prints all the same: that must not get into a file of ours that has the number
 * for a moment. */
#include "inproc/system.h"

static int open_now(int folder, const char* name, int flags, int mode) {
  return (int)call(SYS_openat, folder, (long)name, flags | O_CLOEXEC | O_NOFOLLOW | O_LARGEFILE,
                   mode, 0, 0);
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
  while (count > 0) close_file(low[--count]);
  return fd;
}
