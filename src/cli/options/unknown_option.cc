#include "cli/options/unknown_option.h"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell::cli {
namespace {

/// Without the dashes.
std::vector<std::string> long_names(const OptionTable& table) {
  std::vector<std::string> out;
  for (const Option& option : table.rows)
    if (!option.hidden)
      for (const std::string& name : names_of(option))
        if (name.starts_with("--")) out.push_back(name.substr(2));
  return out;
}

}  // namespace

std::string near_options(const OptionTable& table, std::string_view argument) {
  const std::string_view name = argument.substr(0, argument.find('='));
  if (!name.starts_with("--")) return "";
  return did_you_mean(long_names(table), name.substr(2), "--");
}

std::optional<std::string> unknown_option(const OptionTable& table,
                                          std::span<const std::string> arguments) {
  if (table.rest != nullptr) return std::nullopt;  // they may be another program's
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view one = arguments[i];
    if (one == "--") break;
    if (!one.starts_with("--")) continue;
    const std::string_view name = one.substr(0, one.find('='));
    if (const Option* option = table.find(name)) {
      // Its value is what stands behind it, whatever that looks like.
      if (!is_flag(*option) && name.size() == one.size()) ++i;
      continue;
    }
    return fmt::format("there is no option {}", printable(name)) + near_options(table, one);
  }
  return std::nullopt;
}

}  // namespace tracewell::cli
