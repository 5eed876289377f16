// What Step::stored has of a step of an x64dbg trace: parts, each a tag, its length (two bytes) and
// bytes.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "model/event.h"

namespace tracewell::formats {

/// The block says that its opcode has no bytes: so that is not just not known.
bool is_stored_without_opcode(const Step& step);

namespace trace64 {

/// See Reader::store(). What is no such thing is left alone.
template <class Act>
void each_stored(Bytes stored, Act&& act) {
  ByteReader reader(stored, Endian::Little);
  while (!reader.at_end()) {
    const auto tag = reader.uint(1);
    const auto size = reader.uint(2);
    const auto bytes = size ? reader.take(*size) : std::nullopt;
    if (!bytes) return;
    act(static_cast<uint8_t>(*tag), *bytes);
  }
}

}  // namespace trace64
}  // namespace tracewell::formats
