#include "report/codes.h"

namespace tracewell::report::codes {

bool P::read(Context& context, const CodeUse& use, Value& value) {
  return read_number(context, use, use.bytes, value.number);
}

void P::print(Context& context, const CodeUse&, const Value& value) {
  const Entry& entry = *context.entry;
  std::string_view path = value.number == entry.pid ? entry.process_path : std::string_view();
  if (path.empty() && context.facts->paths) path = context.facts->paths->path_of(value.number);
  if (!path.empty()) return context.line.outside(path);
  print_decimal(context, value.number, false);
}

}  // namespace tracewell::report::codes
