#include <charconv>

#include "report/codes.h"

namespace tracewell::report::codes {

bool o::read(Context& context, const CodeUse& use, Value& value) {
  return read_number(context, use, use.bytes, value.number);
}

uint64_t o::narrow(uint64_t number, const CodeUse& use) {
  return low_bits(number, use.bytes * 8);
}

void o::print(Context& context, const CodeUse&, const Value& value) {
  constexpr size_t kDigitsMax = 22;
  char* to = context.line.item(kDigitsMax);
  const auto [end, error] = std::to_chars(to, to + kDigitsMax, value.number, 8);
  context.line.commit(static_cast<size_t>(end - to));
}

}  // namespace tracewell::report::codes
