#include "report/codes.h"

namespace tracewell::report::codes {

bool D::read(Context& context, const CodeUse& use, Value& value) {
  if (!read_number(context, use, use.bytes, value.number)) return false;
  value.number = narrow(value.number, use);
  return true;
}

uint64_t D::narrow(uint64_t number, const CodeUse& use) {
  return sign_extend(number, use.bytes * 8);
}

void D::print(Context& context, const CodeUse&, const Value& value) {
  print_decimal(context, value.number, true);
}

}  // namespace tracewell::report::codes
