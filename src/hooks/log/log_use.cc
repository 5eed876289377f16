#include "hooks/log/log_use.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/log/log_folder.h"

namespace tracewell::hooks {
namespace {

constexpr char kLockName[] = ".lock";

/// One that is none of this user's says nothing.
bool is_own(const Result<UniqueFd>& fd) {
  if (!fd.ok()) return false;
  const auto facts = facts_of(fd->get(), kLockName);
  return facts.ok() && is_own_user(facts->owner);
}

/// What the lock's file says; empty when it says nothing.
std::string control_of(const Folder& log) {
  const auto fd = log.open(kLockName);
  char path[PATH_MAX];
  const ssize_t got = is_own(fd) ? ::pread(fd->get(), path, sizeof path, 0) : 0;
  return got > 0 ? std::string(path, static_cast<size_t>(got)) : std::string();
}

std::optional<tracewell_channel> channel_in(int control, unsigned number) {
  tracewell_channel out{};
  const off_t at = TRACEWELL_CONTROL_CHANNELS + off_t{number} * TRACEWELL_HOOK_PAGE;
  if (::pread(control, &out, sizeof out, at) != ssize_t{sizeof out}) return std::nullopt;
  return out;
}

/// By its path, or where that was exchanged: by the session that it is of.
std::optional<unsigned> channel_that_writes(const std::string& control, const Folder& log) {
  const auto fd = open_found(control);
  if (!is_own(fd)) return std::nullopt;
  for (unsigned number = 0; number < TRACEWELL_HOOK_CHANNELS; ++number) {
    const auto channel = channel_in(fd->get(), number);
    if (!channel) return std::nullopt;
    if (channel->active == 0) continue;
    if (is_same_log(log_of(*channel), log.path()) || is_log_of(log, channel->uuid)) return number;
  }
  return std::nullopt;
}

}  // namespace

std::string log_of(const tracewell_channel& channel) {
  return {channel.log, ::strnlen(channel.log, sizeof channel.log)};
}

std::string log_path(const std::string& named) {
  std::string out = absolute_path(named);
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

bool is_same_log(const std::string& log, const std::string& other) {
  return log == other || is_same_file(log, other);
}

Status check_nobody_writes(const Folder& log) {
  const std::string control = control_of(log);
  if (const auto channel = channel_that_writes(control, log))
    return {Errc::InvalidArgument,
            fmt::format("{} is the log of a trace that runs: trcstop -{} ends it, with the "
                        "XDG_RUNTIME_DIR that it was started with (its control file is {})",
                        printable(log.path()), *channel, printable(control))};
  if (const auto fd = log.open(kLockName); fd.ok() && file_is_locked(fd->get()))
    return {Errc::InvalidArgument,
            fmt::format("somebody is writing to {}: name another log", printable(log.path()))};
  return {};
}

bool is_written_by(const Folder& log, std::span<const uint8_t> session) {
  const auto fd = log.open(kLockName);
  if (!fd.ok()) return false;
  if (file_is_locked(fd->get())) return true;
  const auto facts = facts_of(fd->get(), kLockName);
  char path[PATH_MAX];
  const ssize_t got = ::pread(fd->get(), path, sizeof path, 0);
  if (!facts.ok() || got <= 0) return false;
  const auto control =
      open_found({path, static_cast<size_t>(got)}, {.folder = -1, .in_root = false,
                                                    .also = facts->owner});
  const auto theirs =
      control.ok() ? facts_of(control->get(), "a control file") : Result<FileFacts>(Error{});
  if (!theirs.ok() || theirs->owner != facts->owner) return false;
  for (unsigned number = 0; number < TRACEWELL_HOOK_CHANNELS; ++number) {
    const auto channel = channel_in(control->get(), number);
    if (channel && channel->active != 0 && std::ranges::equal(channel->uuid, session)) return true;
  }
  return false;
}

Result<UniqueFd> open_log_lock(const Folder& log) {
  return log.open_own(kLockName, Folder::Make::IfMissing);
}

Result<UniqueFd> claim_log(const Folder& log, const std::string& control) {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, open_log_lock(log));
  TW_RETURN_IF_ERROR(lock_file(fd.get()));
  if (::pwrite(fd.get(), control.data(), control.size(), 0) !=
      static_cast<ssize_t>(control.size()))
    return errno_error("cannot write " + printable(log.path_of(kLockName)));
  return fd;
}

bool is_claimed_by(const Folder& log, const std::string& control) {
  return control_of(log) == control;
}

void release_log(const Folder& log) { best_effort(log.remove(kLockName)); }

}  // namespace tracewell::hooks
