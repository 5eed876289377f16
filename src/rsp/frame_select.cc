#include "rsp/frame_select.h"

#include <limits>

#include <fmt/format.h>

#include "rsp/text.h"

namespace tracewell::rsp {
namespace {

Error bad_selection(const TextReader& in) {
  return {Errc::InvalidArgument, "bad frame selection", in.offset()};
}

Result<FrameSelect> read_pair(TextReader& in, FrameSelect::Kind kind) {
  const auto lo = in.hex_until(':');
  if (!lo) return bad_selection(in);
  const auto hi = in.hex();
  if (!hi) return bad_selection(in);
  return FrameSelect{kind, 0, *lo, *hi};
}

Result<FrameSelect> read_number(TextReader& in) {
  if (in.skip("-1")) return FrameSelect{};
  const auto number = in.hex();
  // GDB prints its -1 as 32 bits; other clients may print it as 64.
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  if (number == kMax || number == std::numeric_limits<uint64_t>::max()) return FrameSelect{};
  if (!number || *number > kMax) return bad_selection(in);
  return FrameSelect{FrameSelect::Kind::Number, static_cast<uint32_t>(*number), 0, 0};
}

Result<FrameSelect> read_selection(TextReader& in) {
  if (in.skip("pc:")) {
    const auto pc = in.hex();
    if (!pc) return bad_selection(in);
    return FrameSelect{FrameSelect::Kind::Pc, 0, *pc, *pc};
  }
  if (in.skip("tdp:")) {
    const auto number = in.hex32();
    if (!number) return bad_selection(in);
    return FrameSelect{FrameSelect::Kind::Tracepoint, *number, 0, 0};
  }
  if (in.skip("range:")) return read_pair(in, FrameSelect::Kind::Range);
  if (in.skip("outside:")) return read_pair(in, FrameSelect::Kind::Outside);
  return read_number(in);
}

}  // namespace

Result<FrameSelect> parse_frame_select(std::string_view body) {
  TextReader in(body);
  auto select = read_selection(in);
  if (select.ok() && !in.done()) return bad_selection(in);
  return select;
}

std::string format_frame_select(const FrameSelect& select) {
  switch (select.kind) {
    case FrameSelect::Kind::None: return "ffffffff";
    case FrameSelect::Kind::Number: return hex_number(select.number);
    case FrameSelect::Kind::Pc: return fmt::format("pc:{:x}", select.lo);
    case FrameSelect::Kind::Tracepoint: return fmt::format("tdp:{:x}", select.number);
    case FrameSelect::Kind::Range: return fmt::format("range:{:x}:{:x}", select.lo, select.hi);
    case FrameSelect::Kind::Outside: return fmt::format("outside:{:x}:{:x}", select.lo, select.hi);
  }
  return "";
}

std::string format_frame_reply(std::optional<uint32_t> number, int32_t tracepoint) {
  if (!number) return "F-1";
  return fmt::format("F{:x}T{:x}", *number, static_cast<uint32_t>(tracepoint));
}

}  // namespace tracewell::rsp
