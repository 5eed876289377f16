// Output that appears whole or not at all.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/files/beside.h"
#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/leftovers.h"
#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/patient.h"
#include "base/files/planted.h"
#include "base/text/text.h"

namespace tracewell {
namespace {

constexpr size_t kBufferBytes = 256 * 1024;
constexpr std::chrono::milliseconds kFlushEvery{50};  // of standard output

/// What stands for an open file, for who wants to give it a name.
std::string link_of(const UniqueFd& fd) {
  return "/proc/self/fd/" + std::to_string(fd.get());
}

/// What is no regular file, or is open already: /dev/stdout leads to what is, with its place in the
/// file. To open that once more would begin at its head.
UniqueFd open_special(const Place& place) {
  for (const int own : {1, 2}) {
    const auto facts = facts_of(own, "");
    if (place.facts.kind == FileFacts::Kind::Regular && facts.ok() && facts->is_same(place.facts))
      return UniqueFd(fcntl(own, F_DUPFD_CLOEXEC, 0));
  }
  const int appends = place.facts.kind == FileFacts::Kind::Regular ? O_APPEND : 0;
  return UniqueFd(::open(link_of(place.at).c_str(), O_WRONLY | appends | O_CLOEXEC | O_NOCTTY));
}

/// Rights as another file has them, for one that was made just now. Whether that gets the other's
/// group, too: not where others may have chosen it.
enum class Group : uint8_t { OfOther, Own };

/// How much of `mode` the file may have: who is not told apart is not let in. What the folder says
/// of all that is made in it (its default ACL) holds no longer.
uint32_t mode_as(int fd, const FileFacts& other, uint32_t mode, Group group) {
  ::fremovexattr(fd, "system.posix_acl_access");
  if (other.has_acl) return mode & 0700;
  const auto own = facts_of(fd, "");
  const bool alike = (mode >> 3 & 7) == (mode & 7);  // it does not matter who is of the group
  const bool same = (own.ok() && own->group == other.group) ||
                    (group == Group::OfOther &&
                     ::fchown(fd, static_cast<uid_t>(-1), other.group) == 0);
  return same || alike ? mode : mode & 0700;
}

/// What replaces a file is nobody's to read who was not to read that one. What others made, or may
/// have put there, lets nobody do more than a new file would.
uint32_t take_mode(int fd, const FileFacts& replaced, int folder) {
  const auto facts = facts_of(folder, "");
  const bool planted = !is_own_user(replaced.owner) || !facts.ok() || others_may_put(*facts);
  const uint32_t mode = replaced.mode & 0777;
  if (planted) return mode_as(fd, replaced, mode & mode_of_made(), Group::Own);
  return mode_as(fd, replaced, mode, Group::OfOther);
}

/// A temporary name beside `name`, for this user alone: whoever opens it before it has its mode
/// could read all that is written later.
UniqueFd create_temporary(int folder, const std::string& name, std::string& temporary) {
  for (uint32_t number = 0; number < 10000; ++number) {
    temporary = fmt::format("{}.{}.{}", name, getpid(), number);
    remember_leftover(folder, temporary);  // before it is there
    UniqueFd fd(::openat(folder, temporary.c_str(),
                         O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd.valid()) return fd;
    const int failed = errno;
    forget_leftover(folder, temporary);
    temporary.clear();
    errno = failed;
    if (failed != EEXIST) break;
  }
  return {};
}

/// None where the file system has no such files, or where they could not get a name later, which
/// takes /proc.
UniqueFd create_nameless(int folder) {
  UniqueFd fd(::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd.valid() || access(link_of(fd).c_str(), F_OK) != 0) return {};
  return fd;
}

/// Who could not read `other` must not read this.
void take_rights(int fd, const FileFacts& other) {
  uint32_t mode = mode_as(fd, other, other.mode & 0644, Group::OfOther);
  if (geteuid() == 0 && fchown(fd, other.owner, static_cast<gid_t>(-1)) != 0) mode &= 0600;
  fchmod(fd, mode | 0600);
}

/// A file, `made` just now, has text of `source`: nobody else reads it who could not read that.
void hide_as(int fd, const FileFacts& source, bool made) {
  const uint32_t readers = source.has_acl ? 0 : source.mode & 0044;
  if (readers == 0044) return;
  const auto facts = facts_of(fd, "");
  const bool group =
      readers == 0040 && facts.ok() &&
      (facts->group == source.group ||
       (made && ::fchown(fd, static_cast<uid_t>(-1), source.group) == 0));
  ::fremovexattr(fd, "system.posix_acl_access");
  fchmod(fd, 0600 | (facts.ok() && group ? facts->mode & 0070 : 0));
}

Error not_written(const std::string& path, std::string_view why) {
  return {Errc::InvalidArgument, fmt::format("cannot write {}: {}", printable(path), why), {}};
}

/// The folder could not be opened; but what was asked for is to write.
Error on_the_way(Error error) {
  constexpr std::string_view kOpened = "cannot open ";
  if (error.message.starts_with(kOpened))
    error.message.replace(0, kOpened.size(), "cannot write ");
  return error;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, Existing existing,
                                      Meanwhile meanwhile) {
  if (path != "-") {
    auto place = write_place(path);
    if (!place) return on_the_way(std::move(place).error());
    return create_at(*std::move(place), path, existing, meanwhile, nullptr);
  }
  OutputFile file;
  file.path_ = path;
  file.fd_ = UniqueFd(fcntl(1, F_DUPFD_CLOEXEC, 0));
  if (!file.fd_.valid()) return errno_error("cannot write standard output");
  return file;
}

Result<OutputFile> OutputFile::create_beside(const std::string& path, const Original& other,
                                             Existing existing) {
  TW_ASSIGN_OR_RETURN(Place place, place_to_keep(path, other));
  if (place.at.valid() && place.facts.kind != FileFacts::Kind::Regular)
    return not_written(path, "what is there is no regular file");
  return create_at(std::move(place), path, existing, Meanwhile::Nameless, &other.facts);
}

Result<OutputFile> OutputFile::create_in(const Folder& folder, const std::string& name,
                                         Existing existing) {
  const std::string path = folder.path_of(name);
  Place place;
  place.folder = UniqueFd(fcntl(folder.fd(), F_DUPFD_CLOEXEC, 0));
  place.name = name;
  place.at = UniqueFd(::openat(folder.fd(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!place.folder.valid() || (!place.at.valid() && errno != ENOENT))
    return errno_error("cannot write " + printable(path));
  if (place.at.valid()) {
    TW_ASSIGN_OR_RETURN(place.facts, facts_of(place.at.get(), path));
    if (place.facts.kind != FileFacts::Kind::Regular)
      return not_written(path, "what is there is no regular file");
  }
  return create_at(std::move(place), path, existing, Meanwhile::Nameless, nullptr);
}

Result<OutputFile> OutputFile::create_instead(Place place, const std::string& path,
                                              const FileFacts* source) {
  TW_RETURN_IF_ERROR(check_not_others(place, path));
  const bool there = place.at.valid();
  if (there && (place.facts.kind != FileFacts::Kind::Regular || !place.folder.valid()))
    return not_written(path, "what is there is no regular file");
  const FileFacts facts = place.facts;
  TW_ASSIGN_OR_RETURN(OutputFile file,
                      create_at(std::move(place), path,
                                there ? Existing::Replace : Existing::Keep, Meanwhile::Nameless,
                                nullptr));
  if (source) hide_as(file.fd_.get(), *source, !there);
  if (there) file.instead_of_ = facts;
  return file;
}

Result<OutputFile> OutputFile::create_at(Place place, const std::string& path, Existing existing,
                                         Meanwhile meanwhile, const FileFacts* beside) {
  OutputFile file;
  file.path_ = path;
  file.existing_ = existing;
  const bool there = place.at.valid();
  if (there && place.facts.kind == FileFacts::Kind::Folder)
    return not_written(path, "it is a directory");
  if (there && (place.facts.kind != FileFacts::Kind::Regular || !place.folder.valid())) {
    TW_RETURN_IF_ERROR(check_not_planted(place, path));
    file.fd_ = open_special(place);
    if (!file.fd_.valid()) return errno_error("cannot write " + printable(path));
    return file;
  }
  FileFacts replaced;
  if (there) {
    TW_ASSIGN_OR_RETURN(replaced, facts_of(place.at.get(), path));
  }
  file.regular_ = true;
  file.name_ = place.name;
  file.folder_ = std::move(place.folder);
  const int folder = file.folder_.get();
  if (meanwhile == Meanwhile::Nameless) file.fd_ = create_nameless(folder);
  if (!file.fd_.valid()) file.fd_ = create_temporary(folder, file.name_, file.temporary_);
  if (file.fd_.valid() && beside != nullptr)
    take_rights(file.fd_.get(), *beside);
  else if (file.fd_.valid() && !there)
    fchmod(file.fd_.get(), mode_of_made());
  else if (file.fd_.valid())
    fchmod(file.fd_.get(), take_mode(file.fd_.get(), replaced, folder));
  if (file.fd_.valid()) return file;
  return errno_error("cannot write " + printable(path));
}

Result<FileFacts> OutputFile::facts() const { return facts_of(fd_.get(), path_); }

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      folder_(std::move(other.folder_)),
      path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      existing_(other.existing_),
      instead_of_(other.instead_of_),
      regular_(other.regular_),
      temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::move(other.buffer_)),
      written_(other.written_),
      flushed_(other.flushed_) {}

OutputFile::~OutputFile() {
  if (temporary_.empty()) return;
  unlinkat(folder_.get(), temporary_.c_str(), 0);
  forget_leftover(folder_.get(), temporary_);
}

Status OutputFile::write(Bytes bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (buffer_.size() >= kBufferBytes) return flush();
  if (path_ != "-") return {};
  const auto now = std::chrono::steady_clock::now();
  if (now - flushed_ < kFlushEvery) return {};
  flushed_ = now;
  return flush();
}

std::string OutputFile::shown_name() const {
  return path_ == "-" ? "standard output" : printable(path_);
}

Status OutputFile::flush() {
  const size_t done = write_patiently(fd_.get(), buffer_);
  const int failed = errno;
  // What is out is out: to try again must not write it twice.
  const bool all = done == buffer_.size();
  written_ += done;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<ptrdiff_t>(done));
  errno = failed;
  return all ? Status() : errno_error("cannot write " + shown_name());
}

Status OutputFile::rewrite_at(uint64_t offset, Bytes bytes) {
  TW_CHECK(can_rewrite() && offset + bytes.size() <= size());
  TW_RETURN_IF_ERROR(flush());
  while (!bytes.empty()) {
    const ssize_t put = pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error("cannot write " + shown_name());
    offset += static_cast<uint64_t>(put);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return {};
}

Result<std::shared_ptr<InputFile>> OutputFile::read_back() {
  TW_CHECK(can_rewrite());
  TW_RETURN_IF_ERROR(flush());
  UniqueFd again(fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!again.valid()) return errno_error("cannot read " + printable(path_));
  return InputFile::of(std::move(again), path_);
}

/// A file without a name gets its own at once when that is free, else a temporary one, for a link
/// does not replace on any file system. The result is an errno.
int OutputFile::name_it() {
  const std::string file = link_of(fd_);
  const int folder = folder_.get();
  const auto name = [&](const std::string& as) {
    const bool done = linkat(AT_FDCWD, file.c_str(), folder, as.c_str(), AT_SYMLINK_FOLLOW) == 0;
    return done ? 0 : errno;
  };
  if (const int failed = name(name_); failed != EEXIST || existing_ == Existing::Keep)
    return failed;
  for (uint32_t number = 0;; ++number) {
    temporary_ = fmt::format("{}.{}.{}", name_, getpid(), number);
    if (faccessat(folder, temporary_.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) continue;
    remember_leftover(folder, temporary_);  // before it is there
    const int failed = name(temporary_);
    if (failed == 0) return 0;
    forget_leftover(folder, temporary_);
    temporary_.clear();
    if (failed != EEXIST) return failed;
  }
}

Status OutputFile::check_instead_of() const {
  if (!instead_of_) return {};
  const UniqueFd at(::openat(folder_.get(), name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  const auto facts = facts_of(at.get(), path_);
  if (facts.ok() && facts->is_same(*instead_of_)) return {};
  return not_written(path_, "it is another file by now than the one that was read");
}

Status OutputFile::commit() {
  TW_RETURN_IF_ERROR(flush());
  if (!regular_) return {};
  if (fsync(fd_.get()) != 0) return errno_error("cannot sync " + shown_name());
  TW_RETURN_IF_ERROR(check_instead_of());
  const bool keep = existing_ == Existing::Keep;
  const int folder = folder_.get();
  int failed = temporary_.empty() ? name_it() : 0;
  if (failed == 0 && !temporary_.empty()) {
    const bool done = keep ? linkat(folder, temporary_.c_str(), folder, name_.c_str(), 0) == 0
                           : renameat(folder, temporary_.c_str(), folder, name_.c_str()) == 0;
    if (!done) {
      failed = errno;
    } else {
      if (keep) unlinkat(folder, temporary_.c_str(), 0);
      forget_leftover(folder, temporary_);
      temporary_.clear();
    }
  }
  if (failed == EEXIST) return {Errc::InvalidArgument, printable(path_) + " exists already"};
  errno = failed;
  if (failed != 0) return errno_error("cannot rename to " + printable(path_));
  fd_.reset();
  return sync_folder(folder, path_);
}

}  // namespace tracewell
