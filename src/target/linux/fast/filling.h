// Memory that is shared with a program, and filled with pages by a thread of its own, in the order
// in which they are wanted: to fill them with zeros takes longer than all else that a program may
// have to stand still for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/files/mapping.h"

namespace tracewell::target::live {

class Filling {
 public:
  /// What one piece of it takes, nobody waits for longer.
  static constexpr uint64_t kPieceBytes = 1 << 18;

  using Fill = std::function<void(const tracewell::Mapping&, uint64_t offset, uint64_t bytes)>;
  explicit Filling(tracewell::Mapping memory, Fill fill = &populate);
  Filling(Filling&&) noexcept = default;
  /// What this had is of no use any more.
  Filling& operator=(Filling&& other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  /// Waits for nobody: a piece that is being filled may stay mapped for that long.
  ~Filling();

  const tracewell::Mapping& memory() const;
  struct Range {
    uint64_t offset = 0, bytes = 0;
  };
  /// Soon; at once where there may be no more threads.
  void want(std::vector<Range> ranges);
  /// All that was wanted is there when this returns. The caller takes its part.
  void finish();

 private:
  static void populate(const tracewell::Mapping& memory, uint64_t offset, uint64_t bytes) {
    memory.populate(offset, bytes);
  }
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace tracewell::target::live
