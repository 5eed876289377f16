#include "report/codes.h"

namespace tracewell::report::codes {

bool S::read(Context& context, const CodeUse& use, Value& value) {
  uint64_t length = 0;
  if (!read_number(context, use, use.bytes, length)) return false;
  take_text(context, length, value);
  return true;
}

/// As a cast: the macro is the length.
uint64_t S::narrow(uint64_t number, const CodeUse& use) {
  return low_bits(number, use.bytes * 8);
}

void S::print(Context& context, const CodeUse& use, const Value& value) {
  print_text(context, use, value);
}

}  // namespace tracewell::report::codes
