#include "report/codes.h"

namespace tracewell::report::codes {

bool A::read(Context& context, const CodeUse& use, Value& value) {
  // A0.n reads nothing: n blanks. A0 alone is one character.
  take_text(context, use.bytes == 0 && !use.has_bits ? 1 : use.bytes, value);
  value.text = up_to_nul(value.text);
  return true;
}

void A::print(Context& context, const CodeUse& use, const Value& value) {
  if (!use.has_bits) return print_text(context, use, value);
  Value shown = value;
  shown.text = shown.text.substr(0, use.bits);
  const size_t columns = shown.text.size();
  print_text(context, use, shown);
  context.line.blanks(use.bits - columns);
}

}  // namespace tracewell::report::codes
