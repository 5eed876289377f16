// Names are walked component by component, so that each link can be looked at before it is
// followed. openat2(2) cannot do that: it follows all links or none.
#include "base/files/open.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/kernel_files.h"
#include "base/files/owners.h"
#include "base/text/text.h"

namespace tracewell {
namespace {

constexpr int kLinksMax = 40;        // as the system has it
constexpr size_t kFoldersMax = 256;  // deep; each is an open descriptor
constexpr ino_t kProcRoot = 1;       // the inode of /proc itself
constexpr int kPathOnly = O_PATH | O_NOFOLLOW | O_CLOEXEC;

FileFacts facts_from(const struct stat& status) {
  FileFacts out;
  out.kind = S_ISREG(status.st_mode)   ? FileFacts::Kind::Regular
             : S_ISDIR(status.st_mode) ? FileFacts::Kind::Folder
                                       : FileFacts::Kind::Other;
  out.device = status.st_dev;
  out.inode = status.st_ino;
  out.bytes = static_cast<uint64_t>(status.st_size);
  out.links = status.st_nlink;
  out.owner = status.st_uid;
  out.group = status.st_gid;
  out.mode = status.st_mode & 07777;
  out.room = static_cast<uint64_t>(status.st_blocks) * 512;  // stat(2): whatever the file system
  out.changed_ns = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return out;
}

/// acl(5). A descriptor that is only held tells of it by its name in /proc.
bool has_acl(int fd) {
  constexpr const char* kName = "system.posix_acl_access";
  ssize_t size = ::fgetxattr(fd, kName, nullptr, 0);
  if (size < 0 && errno == EBADF)
    size = ::getxattr(fmt::format("/proc/self/fd/{}", fd).c_str(), kName, nullptr, 0);
  return size > 0;
}

Error system_error(std::string_view what) {
  const Errc code = errno == ENOENT || errno == ENOTDIR ? Errc::NotFound : Errc::Io;
  return errno_error(fmt::format("cannot open {}", printable(what)), code);
}

/// A link of /proc that stands for an open file rather than for the name that it shows. Those in
/// /proc itself, such as /proc/self, are plain ones.
bool is_open_file_link(int link, int folder) {
  struct statfs system = {};
  struct stat parent = {};
  return ::fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC &&
         ::fstat(folder, &parent) == 0 && parent.st_ino != kProcRoot;
}

/// One that nobody but the kernel makes: /proc/self, and those between the folders of /sys.
bool is_kernels_link(int link, int folder) {
  struct statfs system = {};
  if (::fstatfs(link, &system) != 0) return false;
  return system.f_type == SYSFS_MAGIC ||
         (system.f_type == PROC_SUPER_MAGIC && !is_open_file_link(link, folder));
}

/// `fd` may be O_PATH. A found file is looked at before it is opened: to open these does things.
Status check_not_of_kernel(int fd, std::string_view what) {
  TW_ASSIGN_OR_RETURN(const bool kernels, is_of_kernel(fd, what));
  if (!kernels) return {};
  return {Errc::InvalidArgument,
          fmt::format("cannot open {}: it is a file of the kernel's (as in /proc and /sys), and "
                      "none that was stored",
                      printable(what))};
}

/// Of what somebody named, that it is not there is a failure like others.
template <class Value>
Result<Value> named_result(Result<Value> result) {
  if (!result.ok() && result.error().code == Errc::NotFound) result.error().code = Errc::Io;
  return result;
}

class Walk {
 public:
  struct Rules {
    FoundRules found;
    bool open_files = false;  // links of /proc that stand for open files are followed
    bool last_link = true;    // what the whole path names is followed when it is a link
    bool kernels_links = false;  // none but those that the kernel makes is followed
  };
  Walk(const std::string& path, const Rules& rules) : whole_(path), rules_(rules), rest_(path) {}

  Result<Place> go() {
    TW_RETURN_IF_ERROR(begin());
    while (true) {
      const std::string name = next_name();
      if (name.empty() && rest_.empty()) return here();
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        TW_RETURN_IF_ERROR(up());
        continue;
      }
      UniqueFd at(::openat(top(), name.c_str(), kPathOnly));
      const bool last = is_last();
      if (!at.valid() && errno == ENOENT && last && !must_be_folder_)
        return Place{std::move(folders_.back()), name, {}, {}};
      if (!at.valid()) return system_error(whole_);
      struct stat status = {};
      if (::fstat(at.get(), &status) != 0) return system_error(whole_);
      if (S_ISLNK(status.st_mode) && (!last || rules_.last_link || must_be_folder_)) {
        TW_ASSIGN_OR_RETURN(const bool open_file, follow(at, name, status));
        if (open_file && last) return end_at(name);
        continue;
      }
      if (last && !must_be_folder_)
        return Place{std::move(folders_.back()), name, std::move(at), facts_from(status)};
      TW_RETURN_IF_ERROR(enter(std::move(at), status));
    }
  }

 private:
  int top() const { return folders_.back().get(); }

  Status begin() {
    if (whole_.empty() || whole_.find('\0') != std::string::npos)
      return {Errc::InvalidArgument, "a file's name is empty or has a zero byte"};
    const bool in_root = rules_.found.in_root;
    if (rest_.front() == '/' && !in_root) return from_root();
    const int start = rules_.found.folder;
    UniqueFd fd(start >= 0 ? ::fcntl(start, F_DUPFD_CLOEXEC, 0)
                           : ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) return system_error(whole_);
    folders_.push_back(std::move(fd));
    return {};
  }

  Status from_root() {
    if (rules_.found.in_root) {
      folders_.resize(1);
      return {};
    }
    UniqueFd fd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) return system_error(whole_);
    folders_.clear();
    folders_.push_back(std::move(fd));
    return {};
  }

  /// Up to the next slash; "" where a slash stands, or at the end.
  std::string next_name() {
    const size_t slash = rest_.find('/');
    std::string name = rest_.substr(0, slash);
    rest_ = slash == std::string::npos ? std::string() : rest_.substr(slash + 1);
    must_be_folder_ = slash != std::string::npos;
    return name;
  }
  bool is_last() const { return rest_.find_first_not_of('/') == std::string::npos; }

  Status up() {
    if (folders_.size() > 1) {
      folders_.pop_back();
      return {};
    }
    if (rules_.found.in_root) return {};
    UniqueFd fd(::openat(top(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) return system_error(whole_);
    folders_.back() = std::move(fd);
    return {};
  }

  Status enter(UniqueFd at, const struct stat& status) {
    if (!S_ISDIR(status.st_mode)) {
      errno = ENOTDIR;
      return system_error(whole_);
    }
    if (folders_.size() >= kFoldersMax)
      return {Errc::Limit, fmt::format("{} is too deep", printable(whole_))};
    folders_.push_back(std::move(at));
    return {};
  }

  bool is_trusted(uint32_t owner) const {
    return is_own_user(owner) || owner == 0 ||
           (rules_.found.also && is_same_user(owner, *rules_.found.also));
  }

  /// Whether it stands for an open file; that is entered, or is `opened_` when it is none.
  Result<bool> follow(const UniqueFd& link, const std::string& name, const struct stat& status) {
    if (++links_ > kLinksMax) {
      errno = ELOOP;
      return system_error(whole_);
    }
    if (rules_.kernels_links && !is_kernels_link(link.get(), top()))
      return {Errc::InvalidArgument,
              fmt::format("cannot open {}: it is a file of the kernel's, and \"{}\" in it is a "
                          "link that may lead anywhere",
                          printable(whole_), printable(name))};
    if (!rules_.kernels_links && !is_trusted(status.st_uid))
      return {Errc::InvalidArgument,
              fmt::format("cannot open {}: \"{}\" in it is a symbolic link of {}, and only links "
                          "of your own and of root are followed here",
                          printable(whole_), printable(name), user_name(status.st_uid))};
    if (is_open_file_link(link.get(), top())) return open_file(name);
    std::array<char, PATH_MAX> text;
    const ssize_t size = ::readlinkat(link.get(), "", text.data(), text.size());
    if (size <= 0) return system_error(whole_);
    const std::string to(text.data(), static_cast<size_t>(size));
    rest_ = must_be_folder_ ? to + "/" + rest_ : to;
    if (to.starts_with('/')) TW_RETURN_IF_ERROR(from_root());
    return false;
  }

  Result<bool> open_file(const std::string& name) {
    if (!rules_.open_files)
      return {Errc::InvalidArgument,
              fmt::format("cannot open {}: \"{}\" in it stands for an open file of a process",
                          printable(whole_), printable(name))};
    UniqueFd at(::openat(top(), name.c_str(), O_PATH | O_CLOEXEC));
    struct stat status = {};
    if (!at.valid() || ::fstat(at.get(), &status) != 0) return system_error(whole_);
    if (must_be_folder_) {
      // It is elsewhere: ".." behind it is not the folder of the link.
      if (!rules_.found.in_root) folders_.clear();
      TW_RETURN_IF_ERROR(enter(std::move(at), status));
      return false;
    }
    opened_ = std::move(at);
    return true;
  }

  Result<Place> end_at(const std::string& name) {
    TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(opened_.get(), whole_));
    return Place{{}, name, std::move(opened_), facts};
  }

  /// The path ends in a folder that is entered: "/", "a/..", "a/".
  Result<Place> here() {
    UniqueFd at(::fcntl(top(), F_DUPFD_CLOEXEC, 0));
    TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(at.get(), whole_));
    return Place{std::move(folders_.back()), ".", std::move(at), facts};
  }

  const std::string whole_;
  const Rules rules_;
  std::string rest_;
  bool must_be_folder_ = false;  // a slash follows the name
  int links_ = 0;
  std::vector<UniqueFd> folders_;
  UniqueFd opened_;
};

/// The file itself, once it is known to be one that may be opened: to open a device does things.
Result<UniqueFd> open_at(const Place& place, int flags, std::string_view what) {
  const std::string again = fmt::format("/proc/self/fd/{}", place.at.get());
  UniqueFd fd(::open(again.c_str(), flags | O_CLOEXEC | O_NOCTTY));
  if (fd.valid() || errno != ENOENT || !place.folder.valid()) {
    if (!fd.valid()) return system_error(what);
    return fd;
  }
  // There is no /proc here.
  fd = UniqueFd(
      ::openat(place.folder.get(), place.name.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW));
  if (!fd.valid()) return system_error(what);
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(fd.get(), what));
  if (facts.is_same(place.facts)) return fd;
  return {Errc::InvalidArgument,
          fmt::format("{} became another file while it was opened", printable(what))};
}

Result<UniqueFd> open_found_kind(const std::string& path, const FoundRules& rules,
                                 FileFacts::Kind kind, bool last_link = true) {
  TW_ASSIGN_OR_RETURN(const Place place, Walk(path, {rules, false, last_link}).go());
  if (!place.at.valid()) {
    errno = ENOENT;
    return system_error(path);
  }
  const bool folder = kind == FileFacts::Kind::Folder;
  if (place.facts.kind != kind)
    return {Errc::InvalidArgument, fmt::format("cannot open {}: it is no {}", printable(path),
                                               folder ? "folder" : "regular file")};
  if (!folder) TW_RETURN_IF_ERROR(check_not_of_kernel(place.at.get(), path));
  return open_at(place, O_RDONLY | O_NONBLOCK | (folder ? O_DIRECTORY : 0), path);
}

}  // namespace

Result<FileFacts> facts_of(int fd, std::string_view what) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0)
    return errno_error(fmt::format("cannot look at {}", printable(what)));
  FileFacts out = facts_from(status);
  out.has_acl = has_acl(fd);
  struct statx more = {};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BTIME, &more) == 0 &&
      (more.stx_mask & STATX_BTIME) != 0)
    out.born_ns = int64_t{more.stx_btime.tv_sec} * 1'000'000'000 + more.stx_btime.tv_nsec;
  return out;
}

std::optional<FileFacts> facts_at(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return facts_from(status);
}

Result<UniqueFd> open_named(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.valid()) return errno_error("cannot open " + printable(path));
  return fd;
}

Result<UniqueFd> open_named_to_write(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const Place place, write_place(path));
  if (!place.at.valid()) {
    errno = ENOENT;
    return system_error(path);
  }
  return open_at(place, O_RDWR, path);
}

Result<UniqueFd> hold_without_links(const std::string& path) {
  TW_ASSIGN_OR_RETURN(Place place, Walk(path, {{}, false, true, true}).go());
  if (place.at.valid()) return std::move(place.at);
  errno = ENOENT;
  return system_error(path);
}

Result<UniqueFd> open_found(const std::string& path, const FoundRules& rules) {
  return open_found_kind(path, rules, FileFacts::Kind::Regular);
}

Result<UniqueFd> open_found_folder(const std::string& path, const FoundRules& rules) {
  return open_found_kind(path, rules, FileFacts::Kind::Folder);
}

namespace {

/// A file that became private takes what is kept beside it along. Where others may put files, it
/// may be anything of this user's.
void keep_as_private(int fd, const FileFacts& facts, bool others_put_there,
                     const FileFacts& other) {
  if (!is_own_user(facts.owner) || !is_own_user(other.owner) || others_put_there) return;
  uint32_t may = other.has_acl ? 0700 : other.mode | 0700;
  if (facts.group != other.group && (may & 07) != (may >> 3 & 07)) may &= 0700;
  if ((facts.mode & 0777 & ~may) != 0) ::fchmod(fd, facts.mode & may & 0777);
}

}  // namespace

Result<UniqueFd> open_beside(const std::string& path, const FileFacts& other,
                             bool* others_put_there) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const UniqueFd held(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!held.valid()) return system_error(path);
  FoundRules rules;
  rules.folder = held.get();
  // Nobody writes through a link here, so that one says nothing of who made what it leads to.
  TW_ASSIGN_OR_RETURN(UniqueFd fd, open_found_kind(path.substr(slash + 1), rules,
                                                   FileFacts::Kind::Regular, false));
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(fd.get(), path));
  const auto refuse = [&](const std::string& why) {
    return Error{Errc::InvalidArgument, fmt::format("{} {}", printable(path), why), {}};
  };
  if (!is_own_user(facts.owner) && facts.owner != 0 && !is_same_user(facts.owner, other.owner))
    return refuse(fmt::format("belongs to {}, who does not own the trace",
                              user_name(facts.owner)));
  if ((facts.mode & 0022) != 0)
    return refuse(fmt::format("may be written by others (mode {:03o}; chmod go-w)", facts.mode));
  const auto where = facts_of(held.get(), folder);
  const bool shared = !where.ok() || others_may_put(*where);
  keep_as_private(fd.get(), facts, shared, other);
  if (others_put_there != nullptr) *others_put_there = shared;
  return fd;
}

Result<UniqueFd> hold_behind(const std::string& link) {
  UniqueFd fd(::open(link.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) return system_error(link);
  return fd;
}

Result<UniqueFd> open_held(int held, HeldUse use, std::string_view what) {
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(held, what));
  if (facts.kind != FileFacts::Kind::Regular)
    return {Errc::InvalidArgument,
            fmt::format("cannot open {}: it is no regular file", printable(what))};
  TW_RETURN_IF_ERROR(check_not_of_kernel(held, what));
  const std::string again = fmt::format("/proc/self/fd/{}", held);
  const int flags = (use == HeldUse::Read ? O_RDONLY : O_RDWR) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  UniqueFd fd(::open(again.c_str(), flags));
  if (!fd.valid()) return system_error(what);
  return fd;
}

Result<Place> write_place(const std::string& path) {
  Walk::Rules rules;
  rules.open_files = true;
  return named_result(Walk(path, rules).go());
}

Result<Place> place_beside(const std::string& path) {
  Walk::Rules rules;
  rules.open_files = true;
  rules.last_link = false;
  return named_result(Walk(path, rules).go());
}

Result<Place> look_again(const Place& place, const std::string& path) {
  Place out;
  if (!place.folder.valid())
    return Error{Errc::InvalidArgument,
                 fmt::format("cannot open {}: it stands for an open file", printable(path)), {}};
  out.folder = UniqueFd(::fcntl(place.folder.get(), F_DUPFD_CLOEXEC, 0));
  if (!out.folder.valid()) return system_error(path);
  out.name = place.name;
  out.at = UniqueFd(::openat(out.folder.get(), out.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!out.at.valid()) return errno == ENOENT ? Result<Place>(std::move(out)) : system_error(path);
  TW_ASSIGN_OR_RETURN(out.facts, facts_of(out.at.get(), path));
  struct stat status = {};
  if (::fstat(out.at.get(), &status) == 0 && S_ISLNK(status.st_mode))
    return Error{Errc::InvalidArgument,
                 fmt::format("cannot open {}: it has become a link by now", printable(path)), {}};
  return out;
}

Status remove_at(const Place& place, const std::string& path) {
  if (place.folder.valid() && ::unlinkat(place.folder.get(), place.name.c_str(), 0) == 0) return {};
  if (!place.folder.valid()) errno = EINVAL;  // an open file, which has no name of its own
  return errno_error("cannot delete " + printable(path),
                     errno == ENOENT ? Errc::NotFound : Errc::Io);
}

Status sync_folder(int fd, const std::string& path) {
  const UniqueFd again(::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (again.valid() && ::fsync(again.get()) == 0) return {};
  // A folder may be written and not be read; some file systems cannot sync one; some are read-only.
  if (errno == EACCES || errno == EINVAL || errno == EROFS || errno == EBADF) return {};
  return errno_error("cannot sync the folder of " + printable(path));
}

std::string user_name(uint32_t uid) {
  std::array<char, 4096> room;
  struct passwd entry = {};
  struct passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found)
    return fmt::format("user {}", printable(found->pw_name));
  return fmt::format("user {}", uid);
}

}  // namespace tracewell
