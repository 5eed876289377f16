// How many hooks of a log found no room in their buffers.
#pragma once

#include <cstdint>
#include <functional>

#include "base/files/folder.h"

namespace tracewell::hooks {

struct LostHooks {
  uint64_t count = 0;
  bool uncounted = false;  // and more, of which nobody knows how many
  bool any() const { return count != 0 || uncounted; }
};

/// Looks at the heads of the log's packets alone, until `stop` says so.
LostHooks lost_hooks(const Folder& log, const std::function<bool()>& stop = {});

}  // namespace tracewell::hooks
