// Command lines, read by a table of options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/option.h"

namespace tracewell::cli {

/// Puts what `words` (without any name) say where the table's rows say. What comes back is to be
/// printed instead of doing anything, as --help wants it; nothing = the values are there.
/// InvalidArgument says what is wrong with the words.
Result<std::optional<std::string>> parse_options(const OptionTable& table,
                                                 const std::vector<std::string>& words);

}  // namespace tracewell::cli
