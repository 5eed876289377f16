#include "agent/buffer_file.h"

#include <cerrno>
#include <utility>

#include "base/file_lock.h"
#include "base/named.h"
#include "base/open.h"

namespace tracewell::agent {

Result<BufferFile> BufferFile::create(const std::string& path) {
  auto fd = open_named_for(
      path, {.write = true, .create = true, .exclusive = true, .mode = 0600});
  if (!fd) {
    if (errno == EEXIST) fd.error().code = Errc::InvalidArgument;
    return std::move(fd).error();
  }
  BufferFile file(*std::move(fd), path);
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
  const auto ours = facts_of(fd_.get(), path_);
  const auto place = place_beside(path_);
  if (!ours || !place || !place->at.valid() || !ours->is_same(place->facts)) return;
  (void)remove_named(path_);
}

}  // namespace tracewell::agent
