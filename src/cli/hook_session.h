// What the commands of trace hooks share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "hooks/control/believed_files.h"
#include "hooks/control/control.h"
#include "hooks/words/hook_groups.h"

namespace tracewell::cli {

struct OptionTable;

/// -0 to -7, at most one of them; `channel` stays as it is without.
void add_channel_options(OptionTable& table, std::optional<unsigned>& channel);

/// An option with nothing behind it, as `-A "$(pidof server)"` when no server runs, must not mean
/// what is meant without it. `may_be_empty` may; "" = none.
void refuse_nothing(OptionTable& table, std::string_view may_be_empty);

/// Those of this command: that one is not believed is said once, on standard error.
hooks::BelievedFiles& believed_files();
/// Of these.
std::optional<std::string> believed_path(const Result<std::string>& path);
/// Event groups of this user's, from a file that is believed.
Result<std::vector<hooks::HookGroup>> own_hook_groups();
/// Ids of all hooks of those with these names, which have commas or blanks between them.
Result<std::vector<uint16_t>> hooks_of_own_groups(std::string_view names);

/// The run of a command that does one thing to one channel.
Run on_channel(const std::function<Status(hooks::Control&, unsigned channel)>& work,
               OptionTable& table);

}  // namespace tracewell::cli
