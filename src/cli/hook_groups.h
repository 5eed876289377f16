// Event groups: names for lists of hooks. trcevgrp changes them, trace -J and -K take them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tracewell::cli {

struct HookGroup {
  std::string name;
  std::string description;
  std::string type;   // "normal"; "reserved": it cannot be changed
  std::string hooks;  // as hook_ids() takes them
};

/// $TRACEWELL_EVENT_GROUPS; or /var/adm/ras/evgrp for root, $XDG_STATE_HOME/tracewell/evgrp for
/// others. A group a line, as AIX lists them: name - description (type) "hooks".
std::string hook_groups_path();

/// As such a file has them. Empty lines, and those that begin with #, mean nothing. Corrupt names
/// the line.
Result<std::vector<HookGroup>> parse_hook_groups(std::string_view text, std::string_view path);
std::string hook_groups_text(const std::vector<HookGroup>& groups);

/// Those of the file, which may not be there, behind those that are always there.
Result<std::vector<HookGroup>> read_hook_groups();

/// nullptr: there is none.
const HookGroup* find_hook_group(const std::vector<HookGroup>& groups, std::string_view name);

/// Ids of all hooks of the groups, whose names have commas or blanks between them.
Result<std::vector<uint16_t>> hooks_of_groups(std::string_view names);

}  // namespace tracewell::cli
