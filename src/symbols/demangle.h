// C++ names as people write them.
#pragma once

#include <string>
#include <string_view>

namespace tracewell::symbols {

/// "_ZN4book5matchEi" is "book::match(int)". Left as it is: what is no such name, what is longer
/// than 4096 characters, and the few that the demangler of the runtime cannot be trusted with.
std::string demangled(std::string_view name);

}  // namespace tracewell::symbols
