// TW_CHECK: an assertion that stays on in release builds. For our own mistakes only; bad input and
// failing system calls are Results. Never used in code that runs inside a traced program.
#pragma once

namespace tracewell {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

#define TW_CHECK(condition)    \
  (static_cast<bool>(condition) \
       ? void(0)                \
       : ::tracewell::check_failed(#condition, __FILE__, __LINE__))
