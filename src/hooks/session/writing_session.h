// The session that writes to a log, for who reads the log meanwhile.
#pragma once

#include <functional>
#include <string>

#include "formats/hooklog/follow.h"

namespace tracewell::hooks {

/// Of the log in `folder`, which is opened now. It may be another user's, or begun with another
/// $XDG_RUNTIME_DIR. It has ended when `stop` says so.
formats::HooklogFollow::Session session_of_log(const std::string& folder,
                                               std::function<bool()> stop);

}  // namespace tracewell::hooks
