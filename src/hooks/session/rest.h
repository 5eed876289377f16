// What becomes of what is in buffers when a session of trace hooks ends.
#pragma once

#include <cstdint>

namespace tracewell::hooks {

enum class Rest : uint8_t { Kept, Discarded };

}  // namespace tracewell::hooks
