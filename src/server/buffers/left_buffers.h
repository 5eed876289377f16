// Left buffers: the files of trace buffers whose servers have ended, and how many of them may stay.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/files/folder.h"
#include "base/result.h"

namespace tracewell::server {

constexpr std::string_view kBufferSuffix = ".twb";
/// Such as a listing has, and what may be deleted by name.
bool is_buffer_name(std::string_view name);

/// Removes it unless a server uses it. InvalidArgument when one does, or when it is no regular file
/// of this user's with one name.
Status remove_left_buffer(const Folder& folder, const std::string& name);

/// How much of what ended servers have left may stay: the newest ones.
struct LeftBounds {
  size_t files = 32;
  uint64_t bytes = uint64_t{2} << 30;  // of the disk, together; the newest may have more
  int64_t age_ns = int64_t{30} * 24 * 3600 * 1'000'000'000;
};

/// Removes what is beyond the bounds, and says of each which and why. Only files with the names
/// that servers give are counted and removed: what its user has renamed is kept.
void remove_old_buffers(const Folder& folder, const LeftBounds& bounds, int64_t now_ns,
                        const std::function<void(std::string_view)>& tell);

}  // namespace tracewell::server
