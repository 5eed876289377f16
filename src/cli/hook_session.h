// What the commands trace, trcon, trcoff and trcstop share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "hooks/control.h"

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

/// Names, on standard error, programs whose hooks the trace does not see, and what to do.
void tell_unseen_programs();

/// The run of a command that does one thing to one channel.
Run on_channel(const std::function<Status(hooks::Control&, unsigned channel)>& work,
               CLI::App& app);

}  // namespace tracewell::cli
