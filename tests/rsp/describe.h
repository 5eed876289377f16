// What the parsers make of a text, as lines to compare. One function a parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracewell::rsp {

using Lines = std::vector<std::string>;

/// `\xNN` and `\\` in case files stand for bytes that a line cannot hold.
std::string unquote(std::string_view text);
std::string quote(std::string_view text);

/// Runs the parser called `name` over `text`; one line "unknown parser" if there is none.
Lines describe(std::string_view name, std::string_view text);

}  // namespace tracewell::rsp
