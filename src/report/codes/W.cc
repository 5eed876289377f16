// Only a cast: behind no macro, W is a move.
#include "report/codes.h"

namespace tracewell::report::codes {

uint64_t W::narrow(uint64_t number, const CodeUse& use) {
  return low_bits(number >> use.bytes, use.bits - use.bytes + 1);
}

void W::print(Context& context, const CodeUse&, const Value& value) {
  print_hex(context, value.number, 4);
}

}  // namespace tracewell::report::codes
