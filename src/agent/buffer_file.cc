#include "agent/buffer_file.h"

#include <cerrno>
#include <utility>

#include "base/file_lock.h"
#include "base/named.h"

namespace tracewell::agent {

Result<BufferFile> BufferFile::create(const std::string& path) {
  auto fd = open_named_for(
      path, {.write = true, .create = true, .exclusive = true, .mode = 0600});
  if (!fd) {
    if (errno == EEXIST) fd.error().code = Errc::InvalidArgument;
    return std::move(fd).error();
  }
  TW_ASSIGN_OR_RETURN(Folder::Entry place, Folder::around(path));
  return locked(*std::move(fd), std::move(place), path);
}

Result<BufferFile> BufferFile::create(Folder folder, const std::string& name) {
  const std::string path = folder.path_of(name);
  auto fd = folder.open_own(name, Folder::Make::New);
  if (!fd) {
    if (folder.facts_of_name(name)) fd.error().code = Errc::InvalidArgument;
    return std::move(fd).error();
  }
  return locked(*std::move(fd), {std::move(folder), name}, path);
}

Result<BufferFile> BufferFile::locked(UniqueFd fd, Folder::Entry place, const std::string& path) {
  BufferFile file(std::move(fd), std::move(place), path);
  if (Status locked = lock_file(file.fd()); !locked)
    return std::move(locked).error().within(path);
  return file;
}

BufferFile& BufferFile::operator=(BufferFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(place_, other.place_);
  std::swap(path_, other.path_);
  std::swap(kept_, other.kept_);
  return *this;
}

/// The file of that name may be another one by now, and its folder may have another name.
void BufferFile::remove() {
  if (kept_ || !fd_.valid()) return;
  const auto ours = facts_of(fd_.get(), path_);
  const auto named = place_.folder.facts_of_name(place_.name);
  if (!ours || !named || !ours->is_same(*named)) return;
  (void)place_.folder.remove(place_.name);
}

}  // namespace tracewell::agent
