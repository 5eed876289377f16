#include "report/codes.h"

namespace tracewell::report::codes {

bool HB::read(Context& context, const CodeUse&, Value& value) {
  value.number = context.entry->generic ? context.entry->data_bytes : 0;
  return true;
}

void HB::print(Context& context, const CodeUse&, const Value& value) {
  print_decimal(context, value.number, false);
}

}  // namespace tracewell::report::codes
