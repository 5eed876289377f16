// Event groups: names for lists of hooks. trcevgrp changes them; trace -J and -K and the report's
// -D, -K and -G take them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "hooks/control/believed_files.h"
#include "hooks/control/defaults.h"

namespace tracewell::hooks {

struct HookGroup {
  std::string name;
  std::string description;
  std::string type;   // "normal"; "reserved": it cannot be changed
  std::string hooks;  // as hook_ids() takes them
};

/// $TRACEWELL_EVENT_GROUPS; or /var/adm/ras/evgrp for root, $XDG_STATE_HOME/tracewell/evgrp for
/// others: state_path(). A group a line, as AIX lists them: name - description (type) "hooks".
Result<std::string> hook_groups_path(StateUse use = StateUse::Read);

/// A line of such a file: a group; or what means nothing, which stays as it is: an empty line, or
/// one that begins with #.
using HookGroupLine = std::variant<HookGroup, std::string>;
/// Corrupt names the line.
Result<std::vector<HookGroupLine>> parse_hook_groups(std::string_view text, std::string_view path);
std::string hook_groups_text(const std::vector<HookGroupLine>& lines);

/// Those of the file, which may not be there, behind those that are always there; nullopt: no file
/// is to be believed.
Result<std::vector<HookGroup>> read_hook_groups(const std::optional<std::string>& path);
/// This user's: those of hook_groups_path().
Result<std::vector<HookGroup>> own_hook_groups(BelievedFiles& files);
/// The same lines.
std::string list_hook_groups(const std::vector<HookGroup>& groups);

/// nullptr: there is none.
const HookGroup* find_hook_group(const std::vector<HookGroup>& groups, std::string_view name);

/// Ids of all hooks of those of the groups whose names these are, with commas or blanks between
/// them.
Result<std::vector<uint16_t>> hooks_of_groups(const std::vector<HookGroup>& groups,
                                              std::string_view names);
Result<std::vector<uint16_t>> hooks_of_own_groups(BelievedFiles& files, std::string_view names);

}  // namespace tracewell::hooks
