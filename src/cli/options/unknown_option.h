// Whom to blame when a command's arguments cannot be parsed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/option.h"

namespace tracewell::cli {

/// "there is no option --colums; near it are --columns and …", if one of `arguments` (in order,
/// without any name) is no option of `table` though it looks like one.
std::optional<std::string> unknown_option(const OptionTable& table,
                                          std::span<const std::string> arguments);

/// "; did you mean --columns?" where an option of `table` is near this one, which it does not have.
std::string near_options(const OptionTable& table, std::string_view argument);

/// "; did you mean --columns or --color?": those of `all` that `word` may have been meant as, the
/// nearest first, each with `prefix` before it; "" when none is near.
std::string did_you_mean(std::vector<std::string> all, std::string_view word,
                         std::string_view prefix);

}  // namespace tracewell::cli
