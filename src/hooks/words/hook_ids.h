// Hooks, and lists of words, as users write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tracewell::hooks {

/// Ids as AIX spells them, with commas or blanks: hh is hh00 to hhf0, hhh is hhh0, hhhh is itself.
Result<std::vector<uint16_t>> hook_ids(const std::string& text);

/// Pieces between commas and blanks.
std::vector<std::string_view> list_words(std::string_view text);

}  // namespace tracewell::hooks
