// Some steps of a trace, found by its index, as if all had been read and the others left out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/stream.h"
#include "timeline/timeline.h"

namespace tracewell::timeline {

/// Numbers of the steps at any of these places, from `from` to `to` (both inclusive), ascending.
/// nullopt: there are so many, or threads take turns so often, that to read all steps takes less
/// time than to go to each of these.
std::optional<std::vector<uint64_t>> few_executions(const Timeline& index,
                                                    std::span<const AddressRange> places,
                                                    uint64_t from, uint64_t to);

/// The steps with these numbers (ascending), each a batch, and in front of the first one of a
/// session the session's mark. Each tells in Step::before what steps of its thread that are left
/// out have told, just as filter::select() has it. seek() and count() go by the numbers of all
/// steps; steps() are all of them. `source` is the trace of that index, which has no losses and
/// tells all registers by each thread's first step and by what they change to.
std::unique_ptr<Source> chosen_steps(std::unique_ptr<Source> source, Timeline index,
                                     std::vector<uint64_t> steps);

}  // namespace tracewell::timeline
