// Error numbers are those of the machine that the report is made on: Linux's. AIX has other numbers
// above 34.
#include <cstring>

#include "report/codes.h"

namespace tracewell::report::codes {

bool E::read(Context& context, const CodeUse& use, Value& value) {
  if (!read_number(context, use, use.bytes, value.number)) return false;
  value.number = sign_extend(value.number, use.bytes * 8);
  return true;
}

void E::print(Context& context, const CodeUse&, const Value& value) {
  const auto number = static_cast<int64_t>(value.number);
  const char* name =
      number > 0 && number < 4096 ? strerrorname_np(static_cast<int>(number)) : nullptr;
  if (name) return context.line.text(name);
  print_decimal(context, value.number, true);
}

}  // namespace tracewell::report::codes
