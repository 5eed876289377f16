#include "formats/steps/memory_pieces.h"

#include <algorithm>
#include <bit>

namespace tracewell::formats {
namespace {

using Access = Step::MemoryAccess;
using Kind = Access::Kind;

constexpr uint64_t kCellBytes = 8;

}  // namespace

size_t piece_bytes(uint64_t address, size_t left) {
  return std::bit_floor(std::min<size_t>(kCellBytes - address % kCellBytes, left));
}

void memory_pieces(const Step& step, StepsOnly& left_out, std::vector<MemoryPiece>& pieces) {
  pieces.clear();
  left_out.count_unsaid(step);
  for (const Access& access : step.memory) {
    if (access.kind == Kind::Nearby) {
      left_out.count("piece{|s} of memory beside operands, which no instruction touched, "
                     "{is|are} left out");
      continue;
    }
    const bool reads = access.kind != Kind::Write;
    const bool writes = access.kind != Kind::Read;
    const bool read_known = reads && !access.old_bytes.empty();
    const bool written_known = writes && !access.new_bytes.empty();
    if ((writes && !written_known) || (!writes && !read_known))
      left_out.count("{access is|accesses are} shown in part or not at all, because it is not "
                     "known what {it|they} read or wrote");
    const size_t size = std::max(read_known ? access.old_bytes.size() : 0,
                                 written_known ? access.new_bytes.size() : 0);
    for (size_t at = 0; at < size;) {
      const uint64_t address = access.address + at;
      const size_t bytes = piece_bytes(address, size - at);
      if (read_known) pieces.push_back({Kind::Read, address, access.old_bytes.subspan(at, bytes)});
      if (written_known)
        pieces.push_back({reads && !read_known ? Kind::ReadWrite : Kind::Write, address,
                          access.new_bytes.subspan(at, bytes)});
      at += bytes;
    }
  }
}

}  // namespace tracewell::formats
