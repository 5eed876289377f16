// What `trcctl` does: defaults are changed and listed, as users ask for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "hooks/control/believed_files.h"
#include "hooks/control/defaults.h"

namespace tracewell::hooks {

/// Texts as they were typed; "" where nothing was said. Errors call them by trcctl's letters.
struct DefaultWords {
  bool restore = false;                           // -r: all is forgotten first
  std::string log, component_folder;              // -o, -d
  std::string log_size, buffer_size, buffer_max;  // -L, -T, -N
  bool any() const;
};
Status change_defaults(const DefaultWords& words);

/// What holds then. nullopt, and no size: any.
struct UsualDefaults {
  std::optional<std::string> log, component_folder;  // nullopt: none can be had
  std::optional<uint64_t> log_bytes, user_buffer_max;
  uint64_t buffer_bytes = 0;
};
Result<UsualDefaults> usual_defaults(BelievedFiles& files);

}  // namespace tracewell::hooks
