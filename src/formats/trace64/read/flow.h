// Program counters, threads and opcodes of an x64dbg trace, past everything else in its blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "formats/trace64/scan/contents.h"
#include "model/stream.h"

namespace tracewell::formats::trace64 {

class FlowReader final : public StepFlow {
 public:
  /// Begins with step `seq`; at the end when there is none.
  FlowReader(std::shared_ptr<const Contents> contents, uint64_t seq);
  Result<bool> next(std::vector<Place>& places) override;

 private:
  /// To where the next step's block is; false at the end.
  bool find_block();
  void find_odd();
  bool read_any(Place& place);
  /// A block that is nothing special, and not near the end of the file.
  bool read_plain(Place& place);

  std::shared_ptr<const Contents> contents_;
  Bytes bytes_;
  Shape shape_;
  uint64_t at_ = 0;
  uint64_t seq_ = 0;
  uint64_t pc_ = 0;
  uint32_t tid_ = 0;
  uint64_t odd_at_ = 0;  // up to here there are only plain blocks and user blocks
};

}  // namespace tracewell::formats::trace64
