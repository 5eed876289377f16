#include "hooks/words/hook_ids.h"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell::hooks {

Result<std::vector<uint16_t>> hook_ids(const std::string& text) {
  std::vector<uint16_t> out;
  for (const std::string_view one : list_words(text)) {
    unsigned id = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), id, 16);
    if (error != std::errc() || end != one.data() + one.size() || one.size() < 2 || one.size() > 4)
      return {Errc::InvalidArgument,
              fmt::format("'{}' is no hook: two, three or four hex digits", printable(one))};
    const unsigned shifted = id << 4 * (4 - one.size());
    const unsigned last = shifted + (one.size() == 2 ? 0xf0u : 0u);
    for (unsigned next = shifted; next <= last; next += 0x10) out.push_back(uint16_t(next));
  }
  if (out.empty()) return {Errc::InvalidArgument, "no hooks are named"};
  return out;
}

std::vector<std::string_view> list_words(std::string_view text) {
  std::vector<std::string_view> out;
  for (const std::string_view piece : split(text, ','))
    for (const std::string_view word : split(piece, ' '))
      if (!word.empty()) out.push_back(word);
  return out;
}

}  // namespace tracewell::hooks
