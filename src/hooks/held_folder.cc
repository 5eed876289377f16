#include "hooks/held_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace tracewell::hooks {

Result<HeldFolder> HeldFolder::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return errno_error("cannot look into " + path);
  HeldFolder out(std::move(fd));
  if (!out.is_at(out.link_)) out.link_ = path;  // no /proc here
  return out;
}

HeldFolder::HeldFolder(UniqueFd fd)
    : fd_(std::move(fd)), link_(fmt::format("/proc/self/fd/{}", fd_.get())) {}

bool HeldFolder::is_at(const std::string& path) const {
  struct stat held {}, named {};
  return ::fstat(fd_.get(), &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/// What was removed has a name still, with something behind it: nothing is there.
std::optional<std::string> HeldFolder::now() const {
  std::error_code error;
  std::string where = std::filesystem::read_symlink(link_, error).string();
  if (error || !is_at(where)) return std::nullopt;
  return where;
}

}  // namespace tracewell::hooks
