#include "hooks/control.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/file_lock.h"
#include "base/open.h"

namespace tracewell::hooks {
namespace {

// Bytes behind the file's end, which are there to be locked.
constexpr uint64_t kCommandByte = TRACEWELL_CONTROL_BYTES;
constexpr uint64_t kCollectorBytes = kCommandByte + 1;

constexpr const char* kElsewhere = "$XDG_RUNTIME_DIR names the folder that it is in";

Status check_ours(const std::string& path, const struct stat& about) {
  if (about.st_uid != ::geteuid()) return {Errc::Io, path + " belongs to somebody else"};
  if ((about.st_mode & 0077) != 0) return {Errc::Io, path + " is open to others (chmod go= it)"};
  return {};
}

std::atomic_ref<uint32_t> state_word(uint8_t* data, unsigned channel) {
  return std::atomic_ref(reinterpret_cast<tracewell_control*>(data)->state[channel]);
}

/// Programs look for it in the same way (inproc/control.c).
std::string usual_in_tmp() { return fmt::format("/tmp/tracewell-{}", ::geteuid()); }

bool is_ours(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
         about.st_uid == ::geteuid() && (about.st_mode & 0077) == 0;
}

/// Of this user's whose names begin with the usual one and a dash, the first but `not_this`.
std::optional<std::string> other_in_tmp(const std::string& not_this = {}) {
  const std::string start = usual_in_tmp() + "-";
  std::optional<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir("/tmp"), ::closedir);
  if (!entries) return out;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string path = fmt::format("/tmp/{}", entry->d_name);
    if (path.starts_with(start) && path != not_this && (!out || path < *out) && is_ours(path))
      out = path;
  }
  return out;
}

}  // namespace

std::string folder_in_tmp() {
  if (is_ours(usual_in_tmp())) return usual_in_tmp();
  return other_in_tmp().value_or(usual_in_tmp());
}

/// A program may do so at the same time: who finds another one takes its own away.
Result<std::string> make_in_tmp() {
  const std::string folder = folder_in_tmp();
  if (is_ours(folder) || ::mkdir(folder.c_str(), 0700) == 0) return folder;
  if (errno != EEXIST) return errno_error(fmt::format("cannot make {} ({})", folder, kElsewhere));
  uint32_t random = 0;
  static_cast<void>(!::getrandom(&random, sizeof random, 0));
  std::string other = fmt::format("{}-{}", usual_in_tmp(), random);
  if (::mkdir(other.c_str(), 0700) != 0)
    return errno_error(fmt::format("cannot make {} ({})", other, kElsewhere));
  auto first = other_in_tmp(other);
  if (!first) return other;
  ::rmdir(other.c_str());
  return *std::move(first);
}

std::string control_folder() {
  const char* runtime = ::secure_getenv("XDG_RUNTIME_DIR");
  if (runtime && runtime[0] == '/') return std::string(runtime) + "/tracewell";
  const std::string usual = fmt::format("/run/user/{}", ::geteuid());
  struct stat about {};
  if (::stat(usual.c_str(), &about) == 0 && about.st_uid == ::geteuid())
    return usual + "/tracewell";
  return folder_in_tmp();
}

std::optional<std::string> control_folder_trouble() {
  return folder_trouble(control_folder());
}

std::optional<std::string> folder_trouble(const std::string& folder) {
  const std::string usual = usual_in_tmp();
  struct stat about {};
  if (!folder.starts_with(usual + "-") || ::lstat(usual.c_str(), &about) != 0) return std::nullopt;
  return fmt::format("{} is not this user's alone (it belongs to {}), so {} is used instead", usual,
                     user_name(about.st_uid), folder);
}

Result<Control> Control::open() {
  std::string folder = control_folder();
  if (folder == folder_in_tmp()) {
    TW_ASSIGN_OR_RETURN(folder, make_in_tmp());
  }
  struct stat about {};
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return errno_error(fmt::format("cannot make {} ({})", folder, kElsewhere));
  if (::lstat(folder.c_str(), &about) != 0)
    return errno_error(fmt::format("cannot look at {} ({})", folder, kElsewhere));
  if (!S_ISDIR(about.st_mode)) return {Errc::Io, folder + " is no folder"};
  TW_RETURN_IF_ERROR(check_ours(folder, about));

  Control control;
  control.path_ = folder + "/" + TRACEWELL_CONTROL_NAME;
  UniqueFd fd(::open(control.path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid() || ::fstat(fd.get(), &about) != 0)
    return errno_error("cannot open " + control.path_);
  if (!S_ISREG(about.st_mode)) return {Errc::Io, control.path_ + " is no file"};
  TW_RETURN_IF_ERROR(check_ours(control.path_, about));
  if (const int wrong = ::posix_fallocate(fd.get(), 0, TRACEWELL_CONTROL_BYTES); wrong != 0)
    return errno_error(wrong, "no room for " + control.path_);
  // Any program of this user may cut it.
  TW_ASSIGN_OR_RETURN(control.map_, Mapping::map(fd.get(), TRACEWELL_CONTROL_BYTES,
                                                 Mapping::Access::Shared, control.path_));
  control.data_ = control.map_.data();
  control.fd_ = std::move(fd);
  return control;
}

Control::Control(Control&& other) noexcept
    : fd_(std::move(other.fd_)),
      map_(std::move(other.map_)),
      data_(std::exchange(other.data_, nullptr)),
      path_(std::move(other.path_)) {}

Result<UniqueFd> Control::reopen() const {
  UniqueFd fd(::open(fmt::format("/proc/self/fd/{}", fd_.get()).c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT)  // no /proc here
    fd = UniqueFd(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return errno_error("cannot open " + path_);
  return fd;
}

Result<UniqueFd> Control::lock() const {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, reopen());
  TW_RETURN_IF_ERROR(wait_and_lock_byte(fd.get(), kCommandByte));
  return fd;
}

Result<UniqueFd> Control::lock_collector(unsigned channel) const {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, reopen());
  TW_RETURN_IF_ERROR(lock_byte(fd.get(), kCollectorBytes + channel));
  return fd;
}

bool Control::has_collector(unsigned channel) const {
  return byte_is_locked(fd_.get(), kCollectorBytes + channel);
}

Status Control::wait_for_collector(unsigned channel) const {
  TW_ASSIGN_OR_RETURN(const UniqueFd fd, reopen());
  return wait_and_lock_byte(fd.get(), kCollectorBytes + channel);
}

bool Control::is_removed() const {
  struct stat ours {}, named {};
  if (::fstat(fd_.get(), &ours) != 0) return false;
  if (::stat(path_.c_str(), &named) != 0) return errno == ENOENT || errno == ENOTDIR;
  return ours.st_dev != named.st_dev || ours.st_ino != named.st_ino;
}

uint32_t Control::state(unsigned channel) const { return state_word(data_, channel).load(); }

void Control::set_state(unsigned channel, uint32_t state) {
  state_word(data_, channel).store(state);
}

tracewell_channel& Control::channel(unsigned channel) const {
  return *reinterpret_cast<tracewell_channel*>(data_ + TRACEWELL_CONTROL_CHANNELS +
                                               channel * TRACEWELL_HOOK_PAGE);
}

std::span<uint8_t> Control::filter(unsigned channel) const {
  return {data_ + TRACEWELL_CONTROL_FILTERS + channel * TRACEWELL_FILTER_BYTES,
          TRACEWELL_FILTER_BYTES};
}

tracewell_failures& Control::page_of_failures() const {
  return *reinterpret_cast<tracewell_failures*>(data_ + TRACEWELL_CONTROL_FAILURES);
}

uint64_t& Control::failures(unsigned channel) const { return page_of_failures().lost[channel]; }

void Control::forget_collector(unsigned channel) {
  std::atomic_ref(page_of_failures().collected[channel]).store(0);
  std::ranges::fill(page_of_failures().why[channel], '\0');
}

void Control::note_collector(unsigned channel) {
  forget_collector(channel);
  std::atomic_ref(page_of_failures().collected[channel]).store(1);
}

bool Control::had_collector(unsigned channel) const {
  return std::atomic_ref(page_of_failures().collected[channel]).load() != 0;
}

void Control::note_why(unsigned channel, std::string_view text) {
  text.copy(page_of_failures().why[channel], TRACEWELL_WHY_BYTES - 1);
}

std::string Control::why(unsigned channel) const {
  const char* text = page_of_failures().why[channel];
  return {text, ::strnlen(text, TRACEWELL_WHY_BYTES)};
}

}  // namespace tracewell::hooks
