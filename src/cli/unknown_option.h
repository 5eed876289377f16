// Whom to blame when a command's arguments cannot be parsed.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace CLI {
class App;
}

namespace tracewell::cli {

/// "there is no option --colums; near it are --columns and …", if one of `arguments` (in order,
/// without any name) is no option of `app` though it looks like one.
std::optional<std::string> unknown_option(const CLI::App& app,
                                          std::span<const std::string> arguments);

}  // namespace tracewell::cli
