// Where control of a verified expression can go, and how many values are on the stack there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ax/decode.h"

namespace tracewell::axjit {

/// A getv and the setv that stores what was computed from it.
struct Update {
  size_t get = 0, set = 0;  // offsets of the two instructions
};

/// All by offset in the code. Tables are as long as the code, which verify() bounds.
struct Flow {
  static constexpr int kUnreached = -1;

  std::vector<int> heights;        // before the instruction; kUnreached where control never comes
  std::vector<bool> targets;       // a branch that control can come to leads here
  std::vector<Update> updates;     // ascending; no two overlap
  std::vector<size_t> reached;     // the instructions that control comes to, ascending
  bool loops = false;              // a branch leads backwards

  bool reaches(size_t offset) const { return heights[offset] != kUnreached; }
  /// The update whose getv or setv is at `offset`, or null.
  const Update* update_from(size_t get) const;
  const Update* update_to(size_t set) const;
};

/// `code` is what ax::verify() accepted.
Flow follow(ax::Code code);

}  // namespace tracewell::axjit
