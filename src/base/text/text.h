// Small text helpers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracewell {

/// Splits at every `separator`; "" gives one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Cuts `text` at the first `separator`: returns what stands before it and leaves the rest in
/// `text`. Without one, returns everything and leaves `text` empty.
std::string_view take_until(std::string_view& text, char separator);

/// A whole number as people write it: decimal, or hex with 0x. nullopt if anything else is there.
std::optional<uint64_t> parse_number(std::string_view text);

/// Makes outside text safe to print: control characters, those that change how others are shown
/// (the direction, for one), and bytes that are not UTF-8, as \xNN of each byte.
std::string printable(std::string_view text);

/// "; did you mean --columns or --color?": those of `all` that `word` may have been meant as, the
/// nearest first, each with `prefix` before it; "" when none is near. Of a long word the beginning
/// is compared.
std::string did_you_mean(std::vector<std::string> all, std::string_view word,
                         std::string_view prefix);

}  // namespace tracewell
