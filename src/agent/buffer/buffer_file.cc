#include "agent/buffer/buffer_file.h"

#include <cerrno>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "base/files/named.h"

namespace tracewell::agent {
namespace {

// Who removes what has been left locks each file for a moment.
constexpr std::chrono::milliseconds kRemoverMs{1000};

}  // namespace

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
  // Who removes what has been left may have met it before it had its lock.
  auto file = locked(*std::move(fd), {std::move(folder), name}, path);
  if (file && !file->is_there())
    return {Errc::InvalidArgument, fmt::format("{} was taken for one that was left", path)};
  return file;
}

Result<BufferFile> BufferFile::locked(UniqueFd fd, Folder::Entry place, const std::string& path) {
  BufferFile file(std::move(fd), std::move(place), path);
  if (Status locked = wait_and_lock_file(file.fd(), kRemoverMs); !locked)
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
bool BufferFile::is_there() const {
  const auto ours = facts_of(fd_.get(), path_);
  const auto named = place_.folder.facts_of_name(place_.name);
  return ours && named && ours->is_same(*named);
}

void BufferFile::remove() {
  if (!kept_ && fd_.valid() && is_there()) best_effort(place_.folder.remove(place_.name));
}

}  // namespace tracewell::agent
