// Basic blocks, found in the order in which instructions were executed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "machine/control_flow.h"
#include "model/event.h"

namespace tracewell::formats {

/// Strings the steps of each thread together. A block ends behind a jump, a call or a return, where
/// the thread's next step is not the following instruction, and before `size_max` bytes are
/// exceeded. An instruction that cannot be decoded is a block of its own, of as many bytes as the
/// trace has of it, at least one. Memory grows with the threads.
class BasicBlocks {
 public:
  /// `block` is called with the address and the size in bytes of each executed block, once for
  /// each execution.
  using Found = std::function<void(uint64_t address, uint32_t size)>;
  BasicBlocks(std::string_view machine, uint32_t size_max, Found found)
      : decoder_(machine), size_max_(size_max), found_(std::move(found)) {}

  void step(uint64_t tid, const Step& step);
  /// Instructions are missing here: every block ends.
  void gap();
  /// Steps whose length nobody knows.
  uint64_t undecoded() const { return undecoded_; }

 private:
  struct Open {
    uint64_t address = 0;
    uint32_t size = 0;  // 0 = no block is open
  };
  void close(Open& open);

  machine::FlowDecoder decoder_;
  uint32_t size_max_;
  Found found_;
  std::unordered_map<uint64_t, Open> by_thread_;
  uint64_t undecoded_ = 0;
};

}  // namespace tracewell::formats
