// What all readers of one x64dbg trace share.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/file.h"
#include "formats/trace64_generation.h"
#include "formats/trace64_header.h"
#include "formats/trace64_scan.h"
#include "model/problem.h"

namespace tracewell::formats::trace64 {

/// Does not change while more than one reader has it.
struct Contents {
  Contents(const Shape& shape, uint64_t blocks_at) : scan(shape, blocks_at) {}
  std::shared_ptr<InputFile> file;
  Header header;
  Scan scan;
  ProblemLog problems;  // that the scan told
  Generation generation;
  struct Unknown {
    uint64_t seq = 0;  // of the step
    uint64_t offset = 0, size = 0;  // of the bits
  };
  std::vector<Unknown> unknown;  // what our user blocks say of registers, by step
};

}  // namespace tracewell::formats::trace64
