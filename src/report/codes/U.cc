#include "report/codes.h"

namespace tracewell::report::codes {

bool U::read(Context& context, const CodeUse& use, Value& value) {
  return read_number(context, use, use.bytes, value.number);
}

uint64_t U::narrow(uint64_t number, const CodeUse& use) {
  return low_bits(number, use.bytes * 8);
}

void U::print(Context& context, const CodeUse&, const Value& value) {
  print_decimal(context, value.number, false);
}

}  // namespace tracewell::report::codes
