#include "pads/plan.h"

namespace tracewell::pads {

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::Direct:
      return "direct";
    case Kind::Several:
      return "several";
    case Kind::ShortJump:
      return "short-jump";
    case Kind::Punned:
      return "punned";
    case Kind::Successor:
      return "successor";
    case Kind::Neighbour:
      return "neighbour";
    case Kind::Rider:
      return "rider";
    case Kind::Trap:
      return "trap";
    case Kind::None:
      return "none";
  }
  return "?";
}

std::optional<size_t> Plan::copies(uint64_t address) const {
  for (size_t i = 0; i < jumps.size(); ++i)
    for (const Moved& moved : jumps[i].moved)
      if (moved.address == address) return i;
  return std::nullopt;
}

}  // namespace tracewell::pads
