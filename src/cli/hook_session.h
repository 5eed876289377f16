// What the commands trace, trcon, trcoff and trcstop share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/folder.h"
#include "base/result.h"
#include "cli/command.h"
#include "hooks/control/control.h"

namespace tracewell::cli {

/// -0 to -7, at most one of them; `channel` stays as it is without.
void add_channel_options(CLI::App& app, std::optional<unsigned>& channel);

/// The channel asked for; 0; or the only one that is active.
unsigned channel_of(const hooks::Control& control, const std::optional<unsigned>& asked);

/// Ids as AIX spells them, with commas or blanks: hh is hh00 to hhf0, hhh is hhh0, hhhh is itself.
Result<std::vector<uint16_t>> hook_ids(const std::string& text);

/// Pieces between commas and blanks.
std::vector<std::string_view> list_words(std::string_view text);

/// A number of bytes, with k, m or g behind it if need be.
std::optional<uint64_t> size_in_bytes(std::string_view text);

/// A buffer's smallest and largest size, in bytes.
struct SizeLimits {
  uint64_t least, most;
};
/// The sizes that rings of a trace have, and those of a component.
extern const SizeLimits kBufferLimits, kComponentBufferLimits;
/// "64k", "3m", "1000": as size_in_bytes() reads it.
std::string size_text(uint64_t bytes);
/// A size that somebody gave to `option`. InvalidArgument names the limits.
Result<uint64_t> size_within(std::string_view text, std::string_view option,
                             const SizeLimits& limits);
/// The least that a log may be limited to: buffers of the least size fit it, in `fits` of them.
SizeLimits log_limits(uint64_t fits);

/// An option with nothing behind it, as `-A "$(pidof server)"` when no server runs, must not mean
/// what is meant without it. Those that `may_be_empty` may.
void refuse_nothing(CLI::App& app, const std::string& may_be_empty);

/// Names, on standard error, sessions whose collector has ended before them, and what to do.
void tell_collectors(const hooks::Control& control);

/// Says, on standard error, how many hooks found no room in their buffers, and what to do. Looks at
/// the heads of the log's packets alone, until `stop` says so. Nothing without a log.
void tell_lost_hooks(const std::optional<Folder>& log, const std::function<bool()>& stop = {});

/// Names, on standard error, programs whose hooks the trace does not see, and what to do.
void tell_unseen_programs();
/// An error where a program of this user's could be killed by its own filter of system calls once
/// it is traced (hooks/programs/confined_programs.h).
Status kills_nobody();
/// The same: that the control file is not where it usually is, and why.
void tell_control_folder();

/// A file that hooks::state_path() names. nullopt where that is an error: what is there is not
/// used, which is said once, on standard error.
std::optional<std::string> believed_path(const Result<std::string>& path);

/// The run of a command that does one thing to one channel.
Run on_channel(const std::function<Status(hooks::Control&, unsigned channel)>& work,
               CLI::App& app);

}  // namespace tracewell::cli
