// The text that `dprintf` in agent style prints: a format as the debugger's user typed it, and
// values as bytecode left them. Neither is trusted; printf is never shown a format from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tracewell::agent {

/// The most that one format makes, in bytes; more is an error, as is a wider field.
constexpr size_t kFormattedBytesMax = 64 << 10;

/// Reads a string of the program's, up to its NUL, `max` bytes, or what is readable.
using StringReader = std::function<std::string(uint64_t address, size_t max)>;

/// Directives: flags `-+ #0`, width, precision; hh h l ll z j t; d i u o x X c s p f F e E g G and
/// %%. A floating-point value is the bits of a double. `\a \b \e \f \n \r \t \v \\ \" \NNN` are
/// still two characters (or up to four) in `format`. A null %s is "(null)", a null %p "(nil)". What
/// %s and %c print is the program's: shown_text() of it, which is what a width counts. A precision
/// counts the program's bytes.
Result<std::string> format_text(std::string_view format, std::span<const uint64_t> arguments,
                                const StringReader& read_string);

}  // namespace tracewell::agent
