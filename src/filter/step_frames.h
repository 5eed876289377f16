// Steps as trace frames: what a debugger that knows frames alone can look at.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/stream.h"

namespace tracewell::filter {

/// Makes a frame of each step at one of the addresses, or of each step when there are none: the
/// thread's registers before it, as far as they are known and the target description names them;
/// the instruction; and what memory it touched held before. Address n of the list is tracepoint
/// n + 1; without addresses, all is tracepoint 1. Events other than steps stay as they are, but for
/// the marks of sessions. A source that does not begin with steps is handed back unchanged.
/// `forgets` is called when there are more threads than registers are kept of: those of all threads
/// are then not known until steps tell them again.
Result<std::unique_ptr<Source>> frames_of_steps(std::unique_ptr<Source> source,
                                                std::vector<uint64_t> addresses,
                                                std::function<void()> forgets = nullptr);

}  // namespace tracewell::filter
