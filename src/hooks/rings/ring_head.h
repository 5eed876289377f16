// The head of a ring that was found: what it says, where that is possible at all.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "hooks/log/log_folder.h"

namespace tracewell::hooks {

/// nullopt: no ring begins here. Who has a ring mapped may have written anything else to its head.
std::optional<tracewell_ring> ring_head(Bytes bytes);
/// Of a ring with this head, in a file or in memory.
uint64_t ring_bytes(const tracewell_ring& head);
Uuid ring_uuid(const tracewell_ring& head);
/// PID-NUMBER, as its file is named.
std::string ring_name(const tracewell_ring& head);

}  // namespace tracewell::hooks
