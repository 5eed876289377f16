// Changes of event groups as users ask for them: what `trcevgrp` does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hooks/control/believed_files.h"
#include "hooks/words/hook_groups.h"

namespace tracewell::hooks {

struct GroupChange {
  enum class Kind : uint8_t { Add, Update, Remove };
  Kind kind = Kind::Add;
  std::vector<std::string_view> names;
  std::optional<std::string> description, hooks;  // -d and -h, which errors call them by
};

/// Those with these names; all, where there are none. NotFound names one that is not there.
Result<std::vector<HookGroup>> named_hook_groups(const std::vector<std::string_view>& names,
                                                 BelievedFiles& files);
/// Of the user's own file. Either all is done or nothing.
Status change_hook_groups(const GroupChange& change, BelievedFiles& files);

}  // namespace tracewell::hooks
