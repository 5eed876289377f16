#include "timeline/memory/large_accesses.h"

namespace tracewell::timeline {

std::vector<uint8_t> large_accesses_stream(const std::vector<LargeAccess>& all) {
  std::vector<uint8_t> out;
  uint32_t last = all.empty() ? 0 : all.front().step;
  for (const LargeAccess& one : all) {
    append_varint(out, one.step - last);
    append_varint(out, one.first);
    append_varint(out, one.last - one.first);
    out.push_back(one.kind);
    last = one.step;
  }
  return out;
}

}  // namespace tracewell::timeline
