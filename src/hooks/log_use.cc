#include "hooks/log_use.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/file_lock.h"
#include "base/text.h"

namespace tracewell::hooks {
namespace {

std::string lock_path(const std::string& log) { return log + "/.lock"; }

/// A file of this user's. One that is none of ours is not waited for.
UniqueFd open_ours(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about {};
  if (!fd.valid() || ::fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode) ||
      about.st_uid != ::geteuid())
    return {};
  return fd;
}

/// What the lock's file says; empty when it says nothing.
std::string control_of(const std::string& log) {
  const UniqueFd fd = open_ours(lock_path(log));
  char path[PATH_MAX];
  const ssize_t got = fd.valid() ? ::pread(fd.get(), path, sizeof path, 0) : 0;
  return got > 0 ? std::string(path, static_cast<size_t>(got)) : std::string();
}

std::optional<unsigned> channel_that_writes(const std::string& control, const std::string& log) {
  const UniqueFd fd = open_ours(control);
  if (!fd.valid()) return std::nullopt;
  for (unsigned number = 0; number < TRACEWELL_HOOK_CHANNELS; ++number) {
    tracewell_channel channel{};
    const off_t at = TRACEWELL_CONTROL_CHANNELS + off_t{number} * TRACEWELL_HOOK_PAGE;
    if (::pread(fd.get(), &channel, sizeof channel, at) != ssize_t{sizeof channel})
      return std::nullopt;
    if (channel.active != 0 && is_same_log(log_of(channel), log)) return number;
  }
  return std::nullopt;
}

}  // namespace

std::string log_of(const tracewell_channel& channel) {
  return {channel.log, ::strnlen(channel.log, sizeof channel.log)};
}

bool is_same_log(const std::string& log, const std::string& other) {
  std::error_code none;
  return log == other || std::filesystem::equivalent(log, other, none);
}

Status check_nobody_writes(const std::string& log) {
  const std::string control = control_of(log);
  if (const auto channel = channel_that_writes(control, log))
    return {Errc::InvalidArgument,
            fmt::format("{} is the log of a trace that runs: trcstop -{} ends it, with the "
                        "XDG_RUNTIME_DIR that it was started with (its control file is {})",
                        printable(log), *channel, printable(control))};
  if (file_is_locked(lock_path(log)))
    return {Errc::InvalidArgument,
            fmt::format("somebody is writing to {}: name another log", printable(log))};
  return {};
}

Result<UniqueFd> open_log_lock(const std::string& log) {
  const std::string path = lock_path(log);
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return errno_error("cannot write " + path);
  return fd;
}

Result<UniqueFd> claim_log(const std::string& log, const std::string& control) {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, open_log_lock(log));
  TW_RETURN_IF_ERROR(lock_file(fd.get()));
  if (::pwrite(fd.get(), control.data(), control.size(), 0) !=
      static_cast<ssize_t>(control.size()))
    return errno_error("cannot write " + lock_path(log));
  return fd;
}

bool is_claimed_by(const std::string& log, const std::string& control) {
  return control_of(log) == control;
}

void release_log(const std::string& log) {
  static_cast<void>(::unlink(lock_path(log).c_str()));
}

}  // namespace tracewell::hooks
