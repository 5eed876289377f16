#include "report/codes.h"

namespace tracewell::report::codes {
namespace {
unsigned bytes_of(const CodeUse& use) {
  return use.bytes == 0 ? 1 : use.bytes;
}
}  // namespace

bool X::read(Context& context, const CodeUse& use, Value& value) {
  const unsigned bytes = bytes_of(use);
  if (bytes <= 8) return read_number(context, use, bytes, value.number);
  if (context.cursor.left() < bytes) return read_number(context, use, bytes, value.number);
  take_text(context, bytes, value);
  return true;
}

uint64_t X::narrow(uint64_t number, const CodeUse& use) {
  return low_bits(number, bytes_of(use) * 8);
}

void X::print(Context& context, const CodeUse& use, const Value& value) {
  const unsigned bytes = bytes_of(use);
  if (value.text.empty()) return print_hex(context, value.number, bytes * 2);
  // One number of up to 16 bytes, in the log's byte order.
  char* to = context.line.item(bytes * 2);
  for (unsigned i = 0; i < bytes; ++i) {
    const bool big = context.entry->endian == Endian::Big;
    const auto byte = static_cast<uint8_t>(value.text[big ? i : bytes - 1 - i]);
    *to++ = "0123456789ABCDEF"[byte >> 4];
    *to++ = "0123456789ABCDEF"[byte & 15];
  }
  context.line.commit(bytes * 2);
}

}  // namespace tracewell::report::codes
