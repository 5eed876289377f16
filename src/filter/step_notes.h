// Notes as events.
#pragma once

#include <memory>
#include <vector>

#include "model/catalog.h"
#include "model/stream.h"

namespace tracewell::filter {

/// The same events, and a Mark with each note in front of its step; what belongs behind the last
/// step, or has no step, comes at the end. `notes` ascend by step. `instead`: of the marks that
/// `source` has, which are left out, but for those of sessions.
std::unique_ptr<Source> with_notes(std::unique_ptr<Source> source, std::vector<Note> notes,
                                   bool instead);

}  // namespace tracewell::filter
