// Thread ids as packets spell them (manual, "Packets", thread-id syntax).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rsp/text.h"

namespace tracewell::rsp {

/// -1 means all, 0 means any. Without the multiprocess form the process is not said: 0.
struct ThreadId {
  int64_t pid = 0;
  int64_t tid = 0;

  bool operator==(const ThreadId&) const = default;
};

inline constexpr ThreadId kAllThreads{-1, -1};
inline constexpr ThreadId kAnyThread{0, 0};

/// `TID`, `-1`, `0`, `pPID.TID`, `pPID` (= pPID.-1); a plain `-1` is kAllThreads. InvalidArgument
/// for anything else, and for one thread of all processes (`p-1.5`).
Result<ThreadId> parse_thread_id(std::string_view text);
/// The same at the cursor, which stops behind the id.
Result<ThreadId> read_thread_id(TextReader& in);

/// `p1.2` when `multiprocess`, else `2`.
std::string format_thread_id(ThreadId id, bool multiprocess);

}  // namespace tracewell::rsp
