// JSON as the commands print it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tracewell::render {

/// Texts of any bytes, and nothing that a terminal would take for more than text. In lines with
/// `indent` spaces a level, or in one; without a newline at the end.
std::string json_document(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace tracewell::render
