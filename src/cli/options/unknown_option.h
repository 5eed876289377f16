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

}  // namespace tracewell::cli
