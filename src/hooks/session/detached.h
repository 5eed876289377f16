// Processes that work on when the command that started them has ended.
#pragma once

#include <functional>

#include "base/result.h"

namespace tracewell::hooks {

/// Runs `work` in a process of its own, whose exit status it returns. That is nobody's child, keeps
/// no terminal and no folder in use, says nothing to anybody, and is called `name`. What was
/// opened before stays open in it.
Status start_detached(const char* name, const std::function<int()>& work);

}  // namespace tracewell::hooks
