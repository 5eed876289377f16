// What ctctrl's words do to components: memtraceon, systracelevel=5, …
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hooks/components/components.h"

namespace tracewell::hooks {

/// All that the words change. InvalidArgument names a word that is none of them.
Result<ComponentChange> component_change(const std::vector<std::string>& words);

}  // namespace tracewell::hooks
