// Which of the rings that were found are those that somebody wants: heads of rings may lie about
// the trace that they are of (core_rings.h).
#pragma once

#include <optional>
#include <string_view>

#include "hooks/rings/dead_ring.h"

namespace tracewell::hooks {

/// As uuid_text() writes it, in capitals or not; nullopt: it is something else.
std::optional<Uuid> read_uuid(std::string_view text);

/// Erases those that were not asked for; and, of a core file, those that cannot be of the trace
/// that they name since others are, and, where no trace was asked for, those of traces that have
/// ended. Adds sentences about these, and about what nobody vouches for.
void choose_rings(DeadRings& found, const RingChoice& choice);

}  // namespace tracewell::hooks
