#include "base/files/file_lock.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/files/file.h"

namespace tracewell {

namespace {

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

struct flock one_byte(uint64_t at) {
  struct flock lock = whole_file();
  lock.l_start = static_cast<off_t>(at);
  lock.l_len = 1;
  return lock;
}

Status take(int fd, struct flock lock) {
  if (::fcntl(fd, F_OFD_SETLK, &lock) != 0) return errno_error("cannot lock it");
  return {};
}

Status wait_and_take(int fd, struct flock lock) {
  while (::fcntl(fd, F_OFD_SETLKW, &lock) != 0)
    if (errno != EINTR) return errno_error("cannot lock it");
  return {};
}

constexpr long kLookAgainNs = 10'000'000;

/// Asked for as who would only read: another lock for reading, which anybody may have who may read
/// the file, is in nobody's way then. Ours are for writing.
bool is_taken(int fd, struct flock lock) {
  lock.l_type = F_RDLCK;
  return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace

Status lock_file(int fd) { return take(fd, whole_file()); }

Status wait_and_lock_file(int fd, std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (true) {
    Status taken = lock_file(fd);
    if (taken || std::chrono::steady_clock::now() >= end) return taken;
    const timespec pause{0, kLookAgainNs};
    ::nanosleep(&pause, nullptr);
  }
}

Status lock_byte(int fd, uint64_t at) { return take(fd, one_byte(at)); }
Status wait_and_lock_byte(int fd, uint64_t at) { return wait_and_take(fd, one_byte(at)); }
bool byte_is_locked(int fd, uint64_t at) { return is_taken(fd, one_byte(at)); }

bool file_is_locked(int fd) { return is_taken(fd, whole_file()); }

/// A lease for reading is given only where there is no writer (fcntl(2)). A signal tells of whoever
/// opens the file for writing while we have it, and SIGIO would end this process. What is mapped on
/// an overlay is another file, of which the overlay knows nothing.
std::optional<bool> has_writer(int fd) {
  struct statfs system = {};
  if (::fstatfs(fd, &system) != 0 || system.f_type == OVERLAYFS_SUPER_MAGIC) return std::nullopt;
  if (::fcntl(fd, F_SETSIG, SIGURG) != 0) return std::nullopt;
  if (::fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
    return errno == EAGAIN ? std::optional(true) : std::nullopt;
  (void)::fcntl(fd, F_SETLEASE, F_UNLCK);
  return false;
}

}  // namespace tracewell
