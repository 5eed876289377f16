#include "agent/buffer_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file_lock.h"

namespace tracewell::agent {

Result<BufferFile> BufferFile::create(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid())
    return errno_error("cannot make " + path,
                       errno == EEXIST ? Errc::InvalidArgument : Errc::Io);
  BufferFile file(std::move(fd), path);
  if (Status locked = lock_file(file.fd()); !locked)
    return std::move(locked).error().within(path);
  return file;
}

BufferFile& BufferFile::operator=(BufferFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(kept_, other.kept_);
  return *this;
}

/// The file of that name may be another one by now.
void BufferFile::remove() {
  if (kept_ || !fd_.valid()) return;
  struct stat ours {}, there {};
  if (::fstat(fd_.get(), &ours) != 0 || ::lstat(path_.c_str(), &there) != 0) return;
  if (ours.st_dev == there.st_dev && ours.st_ino == there.st_ino) ::unlink(path_.c_str());
}

}  // namespace tracewell::agent
