// Cells of comma-separated values, for all that write some.
#pragma once

#include <string>
#include <string_view>

namespace tracewell::formats {

/// Appends one, quoted where it has to be (RFC 4180). `safe`: with a ' before what a spreadsheet
/// would take for a formula, and quoted where one might see two cells in it.
void put_csv_cell(std::string& line, std::string_view text, bool safe);

}  // namespace tracewell::formats
