// Changes in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/event.h"

namespace tracewell {

/// "process-began", …: as machines read it.
std::string_view change_name(Change::Kind kind);
std::optional<Change::Kind> change_kind(std::string_view name);

/// "process 47 runs /bin/true", for people; safe to print. `pid`: of the event's process; 0 = not
/// known.
std::string change_text(const Event& event, const Change& change, uint32_t pid);

}  // namespace tracewell
