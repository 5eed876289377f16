#include "base/files/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/text.h"

namespace tracewell {
namespace {

Error failed(std::string_view what, const std::string& path) {
  const Errc code = errno == ENOENT ? Errc::NotFound : Errc::Io;
  return errno_error(fmt::format("cannot {} {}", what, printable(path)), code);
}

Error refused(const std::string& path, std::string_view why) {
  return {Errc::InvalidArgument, fmt::format("cannot write {}: {}", printable(path), why), {}};
}

Error no_name(const std::string& path) {
  return {Errc::InvalidArgument,
          fmt::format("{}: its last part is no name that a folder can hold", printable(path)), {}};
}

bool is_plain(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

Status check_own(int fd, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(fd, path));
  if (facts.kind != FileFacts::Kind::Regular) return refused(path, "it is no regular file");
  if (!is_own_user(facts.owner))
    return refused(path, fmt::format("it belongs to {}", user_name(facts.owner)));
  if (facts.links != 1)
    return refused(path, fmt::format("it has {} names (hard links)", facts.links));
  return {};
}

/// What `path` calls the folder that has `name`.
std::string parent_in(const std::string& path, const std::string& name) {
  const size_t at = path.rfind(name);
  const size_t slash = at == std::string::npos || at == 0 ? 0 : at - 1;
  if (slash == 0) return path.starts_with('/') ? "/" : ".";
  return path.substr(0, slash);
}

/// What root makes stays where it was made: nobody else may move it, or put another into its place.
Status check_place_of_roots(const Folder& folder) {
  if (::geteuid() != 0) return {};
  TW_ASSIGN_OR_RETURN(const FileFacts facts, folder.facts());
  const bool open = (facts.mode & 0022) != 0 && (facts.mode & S_ISVTX) == 0;
  if (facts.owner == 0 && !open) return {};
  return {Errc::InvalidArgument, fmt::format("others may write to {}: root makes no folder there",
                                             printable(folder.path()))};
}

}  // namespace

Result<Folder> Folder::named(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return failed("open the folder", path);
  return Folder(std::move(fd), path);
}

Result<Folder> Folder::named_to_write(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const Place place, write_place(path));
  if (!place.at.valid()) {
    errno = ENOENT;
    return failed("open the folder", path);
  }
  UniqueFd fd(::openat(place.at.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return failed("open the folder", path);
  return Folder(std::move(fd), path);
}

Result<Folder::Entry> Folder::around(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const Place place, place_beside(path));
  return holding(place, path);
}

Result<Folder::Entry> Folder::holding(const Place& place, const std::string& path) {
  if (!place.folder.valid() || !is_plain(place.name))
    return refused(path, "that is no name for a file or a folder");
  UniqueFd fd(::fcntl(place.folder.get(), F_DUPFD_CLOEXEC, 0));
  if (!fd.valid()) return failed("hold the folder of", path);
  return Entry{Folder(std::move(fd), parent_in(path, place.name)), place.name};
}

Result<Folder> Folder::found(const std::string& path, const FoundRules& rules) {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, open_found_folder(path, rules));
  return Folder(std::move(fd), path);
}

Result<Folder> Folder::found_in(const Folder* folder, const std::string& path) {
  if (folder == nullptr) return named(path);
  FoundRules rules;
  rules.folder = folder->fd();
  auto inside = found(file_name_of(path), rules);
  if (!inside.ok()) return std::move(inside).error().within(printable(path));
  inside->call(path);
  return inside;
}

Result<Folder> Folder::make(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const Place place, place_beside(path));
  if (place.name == ".") return named(path);
  const Folder parent(UniqueFd(::fcntl(place.folder.get(), F_DUPFD_CLOEXEC, 0)),
                      parent_in(path, place.name));
  TW_ASSIGN_OR_RETURN(Folder out, parent.make_inside(place.name));
  out.path_ = path;
  return out;
}

std::optional<FileFacts> Folder::facts_of_name(const std::string& name) const {
  const UniqueFd at(::openat(fd(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!at.valid()) return std::nullopt;
  auto facts = facts_of(at.get(), name);
  return facts.ok() ? std::optional(*facts) : std::nullopt;
}

bool Folder::is_link(const std::string& name) const {
  struct stat status = {};
  return ::fstatat(fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(status.st_mode);
}

Result<std::vector<std::string>> Folder::names(Which which) const {
  const int again = ::openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(again < 0 ? nullptr : ::fdopendir(again),
                                                    ::closedir);
  if (!entries) {
    const Error error = failed("look into", path_);
    if (again >= 0) ::close(again);
    return error;
  }
  std::vector<std::string> out;
  errno = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const bool other = entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN;
    if (which == Which::Folders && other) {
      errno = 0;
      continue;
    }
    if (out.size() == kNamesMax)
      return {Errc::Limit, fmt::format("{} has more than {} files", printable(path_), kNamesMax)};
    out.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return failed("look into", path_);
  std::ranges::sort(out);
  return out;
}

namespace {

/// Of a folder that was just made. Whoever starts us may have an umask that takes rights of our own
/// user, and nobody could use it. Nothing else is changed that others put into its place.
void keep_own_rights(int folder, const std::string& name, uint32_t mode) {
  const UniqueFd made(
      ::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat about {};
  const mode_t wanted = mode & S_IRWXU;
  if (!made.valid() || ::fstat(made.get(), &about) != 0 || about.st_uid != ::geteuid() ||
      (about.st_mode & wanted) == wanted)
    return;
  const std::string itself = fmt::format("/proc/self/fd/{}", made.get());
  ::chmod(itself.c_str(), (about.st_mode & 07777) | wanted);
}

}  // namespace

Result<Folder> Folder::inside(const std::string& name) const {
  if (!is_plain(name)) return no_name(path_of(name));
  UniqueFd fd(::openat(fd_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return failed("open the folder", path_of(name));
  return Folder(std::move(fd), path_of(name));
}

Result<Folder> Folder::make_inside(const std::string& name, bool is_new, uint32_t mode) const {
  if (!is_plain(name)) return no_name(path_of(name));
  if (::mkdirat(fd(), name.c_str(), mode) == 0)
    keep_own_rights(fd(), name, mode);
  else if (is_new || errno != EEXIST)
    return failed("make", path_of(name));
  return inside(name);
}

Result<UniqueFd> Folder::open(const std::string& name) const {
  FoundRules rules;
  rules.folder = fd();
  auto out = open_found(name, rules);
  if (out.ok()) return out;
  // The whole name, for whoever reads it.
  const std::string short_one = "open " + printable(name);
  const size_t at = out.error().message.find(short_one);
  if (at == std::string::npos) return std::move(out.error()).within(printable(path_));
  out.error().message.replace(at, short_one.size(), "open " + printable(path_of(name)));
  return out;
}

Result<std::shared_ptr<InputFile>> Folder::read(const std::string& name,
                                                uint64_t bytes_max) const {
  TW_ASSIGN_OR_RETURN(UniqueFd file, open(name));
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(file.get(), path_of(name)));
  if (facts.bytes > bytes_max)
    return {Errc::Limit, fmt::format("{} has {} bytes, and {} are the most that it may have",
                                     printable(path_of(name)), facts.bytes, bytes_max)};
  return InputFile::of(std::move(file), path_of(name));
}

Result<UniqueFd> Folder::open_own(const std::string& name, Make make, uint32_t mode,
                                  bool append) const {
  const std::string path = path_of(name);
  if (!is_plain(name)) return no_name(path);
  // What is there is looked at first: to open a device does things.
  if (const UniqueFd at(::openat(fd_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      at.valid() && make != Make::New && !is_link(name))
    TW_RETURN_IF_ERROR(check_own(at.get(), path));
  // O_NONBLOCK: a FIFO is looked at, not waited for.
  const int flags =
      O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (append ? O_APPEND : 0);
  const int creates = make == Make::New ? O_CREAT | O_EXCL : make == Make::IfMissing ? O_CREAT : 0;
  UniqueFd fd(::openat(fd_.get(), name.c_str(), flags | creates, mode));
  if (!fd.valid() && errno == ELOOP) return refused(path, "it is a symbolic link");
  if (!fd.valid()) return failed("write", path);
  TW_RETURN_IF_ERROR(check_own(fd.get(), path));
  struct stat about {};
  constexpr mode_t kOwn = S_IRUSR | S_IWUSR;
  if (creates != 0 && ::fstat(fd.get(), &about) == 0 && (about.st_mode & kOwn) != kOwn)
    ::fchmod(fd.get(), (about.st_mode & 07777) | kOwn);
  return fd;
}

Status Folder::remove(const std::string& name) const {
  if (!is_plain(name)) return no_name(path_of(name));
  if (::unlinkat(fd(), name.c_str(), 0) != 0) return failed("remove", path_of(name));
  return {};
}

Status Folder::remove_folder(const std::string& name) const {
  if (!is_plain(name)) return no_name(path_of(name));
  if (::unlinkat(fd(), name.c_str(), AT_REMOVEDIR) != 0) return failed("remove", path_of(name));
  return {};
}

Status Folder::rename(const std::string& from, const std::string& to) const {
  if (!is_plain(from) || !is_plain(to)) return no_name(path_of(is_plain(from) ? to : from));
  if (::renameat(fd(), from.c_str(), fd(), to.c_str()) != 0) return failed("rename", path_of(from));
  return {};
}

/// rename(2): with a slash behind it, only a folder is renamed; and that replaces no file, and no
/// folder with something in it.
Status Folder::rename_folder(const std::string& from, const std::string& to) const {
  if (!is_plain(from) || !is_plain(to)) return no_name(path_of(is_plain(from) ? to : from));
  if (::renameat(fd(), (from + "/").c_str(), fd(), to.c_str()) != 0)
    return failed("rename", path_of(from));
  return {};
}

Status Folder::sync() const {
  return sync_folder(fd(), path_);
}

Status make_folders(const std::string& path) {
  if (is_folder(path)) return {};
  const size_t name = path.find_last_not_of('/');
  if (name == std::string::npos) return {Errc::InvalidArgument, "a folder's name is empty"};
  const std::string plain = path.substr(0, name + 1);
  if (const std::string above = parent_of(plain); above != plain)
    TW_RETURN_IF_ERROR(make_folders(above));
  if (is_folder(plain)) return {};  // "made/.."
  TW_ASSIGN_OR_RETURN(const Folder::Entry place, Folder::around(plain));
  TW_RETURN_IF_ERROR(check_place_of_roots(place.folder));
  // The kernel takes the umask away. No mode is set afterwards: by then another folder of this
  // user's may have the name.
  TW_RETURN_IF_ERROR(place.folder.make_inside(place.name, false, 0777));
  return {};
}

}  // namespace tracewell
