// Text that is shown to people as it is, in lines: on the server's terminal, or on GDB's.
#pragma once

#include <string>
#include <string_view>

namespace tracewell::agent {

/// What printable() (base/text/text.h) makes of it, but that line ends and tabs stay. A program
/// chooses the bytes of its strings, and of the names of its threads and files: none of them may
/// act on a terminal.
std::string shown_text(std::string_view text);

}  // namespace tracewell::agent
