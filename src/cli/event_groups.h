// Event groups: names for lists of hooks, for `report -D`, `-K` and `-G`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tracewell::cli {

struct EventGroup {
  std::string name, description, type;
  std::vector<uint16_t> hooks;  // four digits
};

/// $TRACEWELL_EVENT_GROUPS; or /var/adm/ras/evgrp for root, $XDG_STATE_HOME/tracewell/evgrp
/// (~/.local/state/…) for others.
std::string event_groups_path();
/// The facility's own first, and those of the file, which may not be there. Lines
/// of it are as AIX lists groups: `name - description (type) "hooks"`; empty ones and those that
/// begin with # mean nothing.
Result<std::vector<EventGroup>> read_event_groups(const std::string& path);
/// The same lines.
std::string list_event_groups(const std::vector<EventGroup>& groups);

}  // namespace tracewell::cli
