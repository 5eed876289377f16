// The rings that a traced process shares with its tracer, when the process has written over them:
// the bytes are the heads of two small rings, their commit words and what is in them. Whatever they
// are, reading ends, and takes no more than there is room for.
// max_len: 4096
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fast/record.h"
#include "fast/ring_reader.h"
#include "fast/vector_state.h"

namespace {

using namespace tracewell;
using namespace tracewell::fast;

void require(bool good) {
  if (!good) std::abort();
}

void visit_one(const RingRecord& one) {
  require(one.blocks.size() <= TRACEWELL_RECORD_MAX);
  RecordBlocks blocks(one.blocks);
  static const std::vector<tracewell_vector_part> parts = {
      {0, 160, 1}, {160, 256, 2}, {576, 64, 4}};
  static VectorState state(parts, 7);
  size_t sum = 0;
  while (const auto block = blocks.next()) {
    sum += block->bytes.size();
    if (block->kind != RecordBlock::Kind::VectorChange) continue;
    const Bytes area = state.apply(*block);
    require(area.empty() || area.size() == 640);
  }
  require(sum <= one.blocks.size());
}

void visit(std::span<const RingRecord> records) { std::ranges::for_each(records, visit_one); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const AreaShape shape{.threads = 4, .rings = 2, .shared_rings = 1, .ring_bytes = 4096};
  static std::vector<uint64_t> words(shape.bytes() / sizeof(uint64_t));
  std::ranges::fill(words, 0);
  const std::span memory(reinterpret_cast<uint8_t*>(words.data()), shape.bytes());
  make_area(memory, shape);
  Bytes rest(data, size);
  const auto spoil = [&](uint64_t at, size_t most) {
    const Bytes some = rest.first(std::min(most, rest.size()));
    std::memcpy(memory.data() + at, some.data(), some.size());
    rest = rest.subspan(some.size());
  };
  spoil(shape.rings_offset(), shape.all_rings() * sizeof(tracewell_frame_ring));
  spoil(shape.threads_offset(), shape.threads * sizeof(tracewell_thread));
  spoil(shape.commit_offset(), shape.all_rings() * shape.cells() * sizeof(uint32_t));
  spoil(shape.data_offset(), rest.size());

  RingReader reader(memory, shape);
  for (int turn = 0; turn < 3; ++turn) {
    require(reader.take_all(visit) <= shape.all_rings() * shape.cells());
    for (uint32_t ring = 0; ring < shape.all_rings(); ++ring) {
      (void)reader.unfinished(ring);
      require(reader.take(ring, turn == 1, visit) <= shape.cells());
    }
  }
  for (const uint32_t tid : {0u, 1u}) {
    const uint32_t own = 2 * tid;  // in a namespace below
    for (const RingPlace& place : places_of(memory, shape, tid, own))
      require(place.ring < shape.all_rings());
    forget_threads(memory, shape, tid, own);
    require(claim_ring(memory, shape, 0x1000 + tid, tid).ring < shape.all_rings());
  }
  for (uint32_t ring = 0; ring < shape.rings; ++ring) {
    require(reader.give_up(ring, visit) <= shape.cells());
    require(!reader.waiting(ring));
  }
  return 0;
}
