// The registers that two traces both have, for all threads of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/registers.h"
#include "timeline/diff/diff.h"

namespace tracewell::timeline {

/// A trace may have 65536 registers, and as many holes behind which they are compared. So how many
/// comparisons there are in all is bounded: by the traces' steps, and far from what a machine's
/// registers take.
class RegisterPairs {
 public:
  struct Pair {
    const Register* a;
    const Register* b;
    uint32_t index_a, index_b;
  };

  /// Both must outlive this.
  RegisterPairs(const DiffSide& a, const DiffSide& b);

  /// Of the same name and size, without the program counter. Found at the first call.
  const std::vector<Pair>& all();

  /// So many pairs were looked at.
  void count(size_t pairs) { left_ -= pairs < left_ ? pairs : left_; }
  /// No more are to be looked at: nothing is known then.
  bool is_spent() const { return left_ == 0; }

 private:
  const DiffSide& a_;
  const DiffSide& b_;
  bool found_ = false;
  std::vector<Pair> pairs_;
  uint64_t left_;  // how many may still be looked at
};

}  // namespace tracewell::timeline
