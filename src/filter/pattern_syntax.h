// What people write as a pattern, in the words of the engine that searches for it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tracewell::filter {

/// `pattern` is an extended regular expression of POSIX over bytes, where A and a are one letter;
/// \w \W \s \S \b \B \` \' are as in GNU's grep, \d and \D a digit or none. The result says the
/// same in RE2's POSIX syntax, case-sensitive; a byte is the letter with its number.
/// InvalidArgument, with what is wrong and what to write instead.
Result<std::string> engine_syntax(std::string_view pattern);

}  // namespace tracewell::filter
