// What standard output and standard error are connected to.
#pragma once

#include <string>

namespace tracewell {

bool output_is_terminal();
bool errors_are_terminal();
/// Does what is written to `path` go where standard output goes? "-", /dev/stdout, or another name
/// of that file. Asked before the file is made, which may take its name away.
bool is_output(const std::string& path);
/// Escape sequences are welcome on standard output: a terminal, and no NO_COLOR (no-color.org).
bool output_has_color();

}  // namespace tracewell
