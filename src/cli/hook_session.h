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
#include "hooks/words/hook_groups.h"

namespace tracewell::cli {

struct OptionTable;

/// -0 to -7, at most one of them; `channel` stays as it is without.
void add_channel_options(OptionTable& table, std::optional<unsigned>& channel);

/// An option with nothing behind it, as `-A "$(pidof server)"` when no server runs, must not mean
/// what is meant without it. `may_be_empty` may; "" = none.
void refuse_nothing(OptionTable& table, std::string_view may_be_empty);

/// Names, on standard error, sessions whose collector has ended before them, and what to do.
void tell_collectors(const hooks::Control& control);

/// Says, on standard error, how many hooks found no room in their buffers, and what to do. Looks at
/// the heads of the log's packets alone, until `stop` says so. Nothing without a log.
void tell_lost_hooks(const std::optional<Folder>& log, const std::function<bool()>& stop = {});

/// Names, on standard error, programs whose hooks the trace does not see, and what to do.
void tell_unseen_programs();
/// The same: that the control file is not where it usually is, and why.
void tell_control_folder();

/// A file that hooks::state_path() names. nullopt where that is an error: what is there is not
/// used, which is said once, on standard error.
std::optional<std::string> believed_path(const Result<std::string>& path);
/// Event groups of this user's, from a file that is believed.
Result<std::vector<hooks::HookGroup>> own_hook_groups();
/// Ids of all hooks of those with these names, which have commas or blanks between them.
Result<std::vector<uint16_t>> hooks_of_own_groups(std::string_view names);

/// The run of a command that does one thing to one channel.
Run on_channel(const std::function<Status(hooks::Control&, unsigned channel)>& work,
               OptionTable& table);

}  // namespace tracewell::cli
