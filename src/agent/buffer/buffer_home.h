// BufferHome: where an engine's trace buffer comes to be, and who is told.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "agent/buffer/buffer_file.h"
#include "base/result.h"
#include "model/catalog.h"

namespace tracewell::agent {

/// Where an engine's trace buffer outlives it, and how its file says what the frames mean.
struct BufferHome {
  /// Asked for a file once, by the first run.
  std::function<Result<BufferFile>()> make;
  /// The text that goes into it.
  std::function<std::vector<uint8_t>(const Catalog&)> describe;
  /// Told where it is, or why there is none; and when the file system is full.
  std::function<void(std::string_view)> notice;
  /// Which process it says is the server; 0: ours.
  int64_t server_pid = 0;
  /// GDB started us at the other end of a pipe, and reads no notices once the program has ended.
  bool is_unread_at_end = false;
};

}  // namespace tracewell::agent
