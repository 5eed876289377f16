// The calls that a thread is inside of, as its executed calls and returns tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tracewell::machine {

/// A call that leads nowhere else than behind itself enters nothing: it was stepped over, or only
/// wanted its own address. A return goes to the nearest caller that waits at that address, and ends
/// what was called since; if none waits there, it was a jump in disguise. Memory grows with the
/// depth.
class CallStack {
 public:
  /// Calls deeper than `most` are only counted, and every return leaves one of these: nothing is
  /// known to compare it with.
  explicit CallStack(size_t most = SIZE_MAX) : most_(most) {}

  enum class Arrival : uint8_t { Nowhere, Entered, TooDeep };
  /// A call has led to `to`; a return from it goes to `back`.
  Arrival call(uint64_t to, uint64_t back);
  /// A return has led to `to`. How many calls it has ended, the innermost ones; the outermost of
  /// these is the one that has returned.
  size_t come_back(uint64_t to);

  /// Without those that are too deep.
  size_t depth() const { return backs_.size(); }

 private:
  size_t most_;
  size_t too_deep_ = 0;
  std::vector<uint64_t> backs_;
  /// How many wait there: of a deep stack nobody looks through all for each return that belongs to
  /// none.
  std::unordered_map<uint64_t, size_t> waiting_;
};

}  // namespace tracewell::machine
