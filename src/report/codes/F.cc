#include <bit>
#include <charconv>

#include "report/codes.h"

namespace tracewell::report::codes {

bool F::read(Context& context, const CodeUse& use, Value& value) {
  return read_number(context, use, use.bytes, value.number);
}

void F::print(Context& context, const CodeUse& use, const Value& value) {
  constexpr size_t kLongest = 32;
  const double number = use.bytes == 4
                            ? double{std::bit_cast<float>(static_cast<uint32_t>(value.number))}
                            : std::bit_cast<double>(value.number);
  char* to = context.line.item(kLongest);
  const auto [end, error] = std::to_chars(to, to + kLongest, number, std::chars_format::scientific,
                                          use.bytes == 4 ? 4 : 8);
  for (char* c = to; c != end; ++c)
    if (*c >= 'a' && *c <= 'z') *c = static_cast<char>(*c - 'a' + 'A');
  context.line.commit(static_cast<size_t>(end - to));
}

}  // namespace tracewell::report::codes
