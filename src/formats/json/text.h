// How values are spelled in JSON, and wherever else the same ones are shown: strings that survive
// any bytes, and registers of any size as numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/endian.h"
#include "model/event.h"
#include "model/registers.h"

namespace tracewell::formats {

/// What an access's kind is called, by its number.
constexpr std::string_view kAccessNames[] = {"read", "write", "read-write", "nearby"};

/// A JSON string, quoted, with all escaped that may not be shown as it is. Text that is not UTF-8
/// becomes `{"hex":"…"}`.
void append_json_text(std::string& out, std::string_view text);

/// Calls `take(register, value)` for each register of a frame that was collected, by `block`.
template <class Take>
void each_collected(const RegisterLayout& layout, const Frame& frame, const FrameBlock& block,
                    Take&& take) {
  for (uint32_t i = 0; i < layout.registers.size(); ++i) {
    const Register& one = layout.registers[i];
    if (register_valid(frame, i) && one.offset <= block.bytes.size() &&
        one.size_bytes <= block.bytes.size() - one.offset)
      take(one, block.bytes.subspan(one.offset, one.size_bytes));
  }
}

/// "0x…": the register's value as a number, in minimal digits.
std::string register_value_hex(Bytes value, Endian endian);

}  // namespace tracewell::formats
