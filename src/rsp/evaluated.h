// What GDB evaluates of texts that it is told of, beyond looking up names. Evaluating may do
// anything: `$_shell("…")` runs a command, and so may a function of the user's own scripts.
#pragma once

#include <string_view>

namespace tracewell::rsp {

/// A place that GDB only looks up: `name`, `a::b<int>(char*)`, `dir/file.c:12`, `12`. A whole path
/// in front of a line's number may have blanks. GDB evaluates `*EXPR`, and takes options,
/// conditions and `$variables` in a place; none of that is plain.
bool is_plain_linespec(std::string_view place);

/// `*0x401106`
bool is_plain_address(std::string_view place);

/// May the expression call a function: a convenience function (`$f(1)`, `(0, $f)(1)`), or one of
/// the program that it names in front of the parenthesis? No expression that a tracepoint has may,
/// so nothing is lost with those that do. What stands in quotes counts too: where they end is not
/// the same in all languages.
bool calls_functions(std::string_view expression);

/// May the expression change something: `=`, `+=`, `:=`, `++`?
bool assigns(std::string_view expression);

}  // namespace tracewell::rsp
