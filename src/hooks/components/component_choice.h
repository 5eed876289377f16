// Which components somebody means.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hooks/components/components.h"

namespace tracewell::hooks {

/// Patterns of names, aliases and types, as fnmatch(3) has them; `all` stands for any.
struct ComponentChoice {
  std::vector<std::string> names, aliases, types;
  bool children = false, parents = false;  // and those below them, and those above

  /// Are any patterns given? Without, all are meant.
  bool selects() const { return !names.empty() || !aliases.empty() || !types.empty(); }
  /// InvalidArgument: one could not be part of a rule.
  Status check() const;
  /// Those of `all` that are meant, in the same order.
  std::vector<Component> of(const std::vector<Component>& all) const;
};

}  // namespace tracewell::hooks
