// A sample of a thread, as profilers take them: its registers and the part of its stack that is in
// use, copied while it stood still for that. The thread runs on, and a debugger that believes it to
// stand still sees the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <sys/user.h>

#include "target/target.h"

namespace tracewell::target::live {

class RegisterBlocks;
struct Thread;

struct Sample {
  static constexpr size_t kStackBytesMax = 256 << 10;

  Sample() { ++living_; }
  ~Sample() { --living_; }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;
  /// Is there one at all? Whoever reads memory looks for one among thousands of threads otherwise.
  static bool any() { return living_ != 0; }

  user_regs_struct regs{};     // zeros inside vfork
  std::vector<uint8_t> block;  // all registers, as the layout has them
  uint64_t stack = 0;          // where `bytes` have been
  std::vector<uint8_t> bytes;
  bool is_trimmed = false;

  /// Of one that stands still, or is inside vfork. Null: its registers cannot be had.
  static std::shared_ptr<Sample> take(RegisterBlocks& registers, Thread& thread);
  /// Leaves out what is behind the mapping that the stack is in, once. Neither the thread nor its
  /// debugger need wait for that before somebody looks.
  void trim(Tid tid, const std::function<bool()>& gives_up);

  bool meets(uint64_t address, uint64_t size) const;
  /// `into` holds what is at `address` now, as far as the first `got` bytes. Puts what was there
  /// over it; returns how much of `into` is good then.
  size_t cover(uint64_t address, std::span<uint8_t> into, size_t got) const;

 private:
  inline static int living_ = 0;  // all are made and end in the thread that traces
};

}  // namespace tracewell::target::live
