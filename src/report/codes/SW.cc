#include "report/codes.h"

namespace tracewell::report::codes {

bool SW::read(Context& context, const CodeUse& use, Value& value) {
  uint64_t length = 0;
  if (!read_number(context, use, context.entry->word_bytes(), length)) return false;
  take_text(context, length, value);
  return true;
}

void SW::print(Context& context, const CodeUse& use, const Value& value) {
  print_text(context, use, value);
}

}  // namespace tracewell::report::codes
