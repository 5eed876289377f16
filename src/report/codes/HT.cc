#include "report/codes.h"

namespace tracewell::report::codes {

bool HT::read(Context& context, const CodeUse&, Value& value) {
  value.number = context.entry->type;
  return true;
}

void HT::print(Context& context, const CodeUse&, const Value& value) {
  print_hex(context, value.number, context.entry->environment_bits == 32 ? 1 : 4);
}

}  // namespace tracewell::report::codes
