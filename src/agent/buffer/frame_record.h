// What is known of a frame beside its blocks.
#pragma once

#include <cstdint>

#include "ring/layout.h"

namespace tracewell::agent {

struct FrameRecord {
  uint64_t pc = 0;
  int64_t time_ns = 0;  // Unix epoch
  int32_t tid = 0;
  int16_t tracepoint = 0;
  bool is_step = false;  // its pc is one of many
  uint16_t masked = 0;  // 1: `mask` says which registers were collected; 0: all of them
  uint8_t mask[ring::kMaskRegisters / 8] = {};  // see ring::FrameShape
};

}  // namespace tracewell::agent
