#include "base/files/named.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/files/kernel_files.h"
#include "base/files/open.h"
#include "base/files/planted.h"
#include "base/text/text.h"

namespace tracewell {
namespace {

constexpr int kTriesMax = 3;

int flags_of(const NamedUse& use) {
  const int access = !use.write ? O_RDONLY : use.read ? O_RDWR : O_WRONLY;
  return access | O_CLOEXEC | O_NOCTTY | (use.append ? O_APPEND : 0) |
         (use.truncate ? O_TRUNC : 0) | (use.wait ? 0 : O_NONBLOCK);
}

/// errno stays what it is while the text is made.
Error failed_for(std::string_view doing, const std::string& path) {
  const int why = errno;
  Error error = errno_error(why, fmt::format("cannot {} {}", doing, printable(path)));
  errno = why;
  return error;
}

/// Why there is no place, in errno: the only reason that is not the system's is a link.
Error no_place(Error error) {
  if (error.code == Errc::InvalidArgument) errno = EACCES;
  return error;
}

/// Where there is no /proc: by its name, which may be another file's by now.
Result<UniqueFd> open_by_name(const Place& place, const NamedUse& use, const std::string& path) {
  const int flags = (flags_of(use) & ~O_TRUNC) | O_NOFOLLOW;
  UniqueFd fd(::openat(place.folder.get(), place.name.c_str(), flags));
  if (!fd.valid()) return failed_for("open", path);
  const auto facts = facts_of(fd.get(), path);
  if (!facts.ok() || !facts->is_same(place.facts)) errno = EACCES;
  else if (!use.truncate || ::ftruncate(fd.get(), 0) == 0) return fd;
  return failed_for("open", path);
}

/// What is there, which is no link any more, and was looked at.
Result<UniqueFd> open_there(const Place& place, const NamedUse& use, const std::string& path) {
  if (Status allowed = check_not_planted(place, path); !allowed) {
    errno = EACCES;
    return std::move(allowed).error();
  }
  const std::string held = fmt::format("/proc/self/fd/{}", place.at.get());
  UniqueFd fd(::open(held.c_str(), flags_of(use)));
  if (fd.valid()) return fd;
  if (errno == ENOENT && place.folder.valid()) return open_by_name(place, use, path);
  return failed_for("open", path);
}

/// A program may have told the name when what it had mapped was there, and lead it elsewhere since:
/// by a link, or by one of /proc that stands for a folder (/proc/PID/cwd). So what is the kernel's
/// is opened only where the name itself says so; and only what everybody may read, since reading
/// what is left takes it away (/proc/kmsg) or does things (tracefs). A program's own file may have
/// any name: whoever makes a user namespace binds it there.
Result<UniqueFd> open_told(const std::string& path, const NamedUse& use) {
  const auto refuse = [&] {
    errno = EACCES;
    return failed_for("open", path);
  };
  UniqueFd held(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!held.valid()) return failed_for("open", path);
  const auto kernels = is_of_kernel(held.get(), path);
  if (!kernels.ok() || (*kernels && !has_kernels_name(path))) return refuse();
  if (*kernels) {
    auto named = hold_without_links(path);
    if (!named.ok()) return refuse();
    held = *std::move(named);
  }
  struct stat status = {};
  if (::fstat(held.get(), &status) != 0) return failed_for("open", path);
  if (!S_ISREG(status.st_mode) || (*kernels && (status.st_mode & S_IROTH) == 0)) return refuse();
  UniqueFd fd(::open(fmt::format("/proc/self/fd/{}", held.get()).c_str(), flags_of(use)));
  if (!fd.valid()) return failed_for("open", path);
  return fd;
}

}  // namespace

Result<UniqueFd> open_named_for(const std::string& path, const NamedUse& use) {
  const int flags = flags_of(use);
  if (!use.write && !use.create && !use.truncate) {
    if (use.told) return open_told(path, use);
    UniqueFd fd(::open(path.c_str(), flags));
    if (!fd.valid()) return failed_for("open", path);
    return fd;
  }
  for (int i = 0; i < kTriesMax; ++i) {
    auto place = use.create && use.exclusive ? place_beside(path) : write_place(path);
    if (!place) return no_place(std::move(place).error());
    const bool there = place->at.valid();
    errno = there && use.create && use.exclusive ? EEXIST : !there && !use.create ? ENOENT : 0;
    if (errno != 0) return failed_for("open", path);
    if (there) return open_there(*place, use, path);
    UniqueFd fd(::openat(place->folder.get(), place->name.c_str(),
                         flags | O_CREAT | O_EXCL | O_NOFOLLOW, use.mode));
    if (fd.valid()) return fd;
    if (errno != EEXIST || use.exclusive) return failed_for("make", path);
    // Somebody was faster; what they made is looked at.
  }
  return failed_for("make", path);
}

Status remove_named(const std::string& path) {
  const auto place = place_beside(path);
  if (!place) return no_place(place.error());
  if (!place->folder.valid()) errno = EPERM;
  else if (!place->at.valid()) errno = ENOENT;
  else if (::unlinkat(place->folder.get(), place->name.c_str(), 0) == 0) return {};
  return failed_for("remove", path);
}

Result<UniqueFd> open_nameless(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.valid()) return fd;
  // Not every file system can do without a name from the start.
  std::string name = folder + "/tracewell.XXXXXX";
  fd = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) return failed_for("make a file in", folder);
  ::unlink(name.c_str());
  return fd;
}

}  // namespace tracewell
