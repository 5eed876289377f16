// QTFrame: which frame a client wants to see (manual, "Tracepoint Packets").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tracewell::rsp {

struct FrameSelect {
  enum class Kind : uint8_t {
    None,        // leave frame mode; GDB sends ffffffff for it, not -1
    Number,      // frame `number`
    Pc,          // the next one at address `lo`
    Tracepoint,  // the next one of tracepoint `number`
    Range,       // the next one with lo <= pc <= hi
    Outside,     // the next one with pc < lo or pc > hi
  };
  Kind kind = Kind::None;
  uint32_t number = 0;
  uint64_t lo = 0;
  uint64_t hi = 0;  // = lo for Pc

  bool operator==(const FrameSelect&) const = default;
};

/// Behind `QTFrame:`. InvalidArgument for anything else. A range may be empty (hi < lo).
Result<FrameSelect> parse_frame_select(std::string_view body);
/// The body again, as GDB sends it.
std::string format_frame_select(const FrameSelect& select);

/// The reply to QTFrame. `number` none: no such frame, `F-1`.
std::string format_frame_reply(std::optional<uint32_t> number, int32_t tracepoint);

}  // namespace tracewell::rsp
