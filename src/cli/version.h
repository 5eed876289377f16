// The version that all names of the program report.
#pragma once

#include <string_view>

namespace tracewell::cli {
/// Of the release: "0.1.0".
std::string_view version();
}  // namespace tracewell::cli
