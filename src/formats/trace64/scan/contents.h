// What all readers of one x64dbg trace share.
#pragma once

#include <cstdint>
#include <memory>

#include "base/files/file.h"
#include "formats/trace64/blocks/header.h"
#include "formats/trace64/scan/generation.h"
#include "formats/trace64/scan/scan.h"
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
};

}  // namespace tracewell::formats::trace64
