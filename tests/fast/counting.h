// A function that hits as a pad would, and records its argument; and a visit to each record.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "fast/hit_here.h"

namespace tracewell::fast {

template <class Visit>
RingReader::Visit each(Visit visit) {
  return [visit](std::span<const RingRecord> records) {
    for (const RingRecord& record : records) visit(record);
  };
}

class Counting {
 public:
  explicit Counting(const AreaShape& shape = {}, uint32_t record_bytes = 256,
                    bool patient = false, size_t visited_at_once = RingReader::kVisitedAtOnce)
      : here(shape, visited_at_once) {
    // trace_quick of 8 bytes at rdi would need memory; a variable would be shared: the register
    // block has it.
    const uint64_t body = here.add(1, {{}}, {}, record_bytes, 0, patient);
    const uint64_t slot = here.take(64);
    const auto code = axjit::hit_slot(body);
    std::memcpy(reinterpret_cast<void*>(slot), code.data(), code.size());
    *reinterpret_cast<uint8_t*>(slot + code.size()) = 0xc3;  // ret
    hit = reinterpret_cast<void (*)(uint64_t)>(slot);
  }
  static uint64_t number(const HitsHere::Record& record) {
    RecordBlocks blocks(record.blocks);
    const auto block = blocks.next();
    EXPECT_TRUE(block && block->kind == RecordBlock::Kind::General);
    return block ? block->general.rdi : 0;
  }
  HitsHere here;
  void (*hit)(uint64_t) = nullptr;
};

}  // namespace tracewell::fast
