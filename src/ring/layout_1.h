// base/freestanding: no libc, no allocation.
// Trace buffers of version 1, which servers before have left: Header::table is a ring of records,
// frame n in record n % table_slots, and the data ring has frames as they are in a trace file.
// Frames first..next-1 are there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ring/layout.h"

namespace tracewell::ring::version_1 {

inline constexpr uint32_t kVersion = 1;

/// What is known of a frame beside its bytes.
struct FrameRecord {
  uint64_t at = 0;  // of the header: bytes ever written to the data ring before it
  uint64_t pc = 0;
  int64_t time_ns = 0;  // Unix epoch
  int32_t tid = 0;
  uint32_t size = 0;  // of the data, without the header
  int16_t tracepoint = 0;
  uint16_t masked = 0;  // 1: `mask` says which registers were collected; 0: all of them
  uint32_t check = 0;   // low half of the frame's number
  uint8_t mask[kMaskRegisters / 8] = {};  // bit n % 8 of byte n / 8: register n of the layout
};

static_assert(sizeof(FrameRecord) == 72 && alignof(FrameRecord) == 8);
static_assert(offsetof(FrameRecord, tracepoint) == 32 && offsetof(FrameRecord, check) == 36);
static_assert(offsetof(FrameRecord, mask) == 40);

}  // namespace tracewell::ring::version_1
