#include "report/codes.h"

namespace tracewell::report::codes {
namespace {
unsigned bits_of(const CodeUse& use) {
  return use.bytes * 8 + use.bits;
}
}  // namespace

bool B::read(Context& context, const CodeUse& use, Value& value) {
  if (context.cursor.take_bits(bits_of(use), value.number)) return true;
  context.read_failed = true;
  context.fault("B reads behind the entry");
  return false;
}

uint64_t B::narrow(uint64_t number, const CodeUse& use) {
  return low_bits(number, bits_of(use));
}

void B::print(Context& context, const CodeUse& use, const Value& value) {
  const unsigned bits = bits_of(use);
  char* to = context.line.item(bits);
  for (unsigned i = 0; i < bits; ++i)
    to[i] = static_cast<char>('0' + (value.number >> (bits - 1 - i) & 1));
  context.line.commit(bits);
}

}  // namespace tracewell::report::codes
