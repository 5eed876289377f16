// History: what a recorded run of steps can be asked. Steps are numbered from 0; "before step n" is
// the moment at which n - 1 is done and n is not. Threads are named as the recorder named them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/snapshot.h"
#include "model/stream.h"

namespace tracewell::target {

class History {
 public:
  enum class Touch : uint8_t { Read, Write, Any };
  struct Touched {
    uint64_t step = 0;
    uint64_t address = 0;  // the first of the watched bytes that the access had
  };

  virtual ~History() = default;
  virtual uint64_t count() const = 0;
  /// In the order of their first steps.
  virtual std::vector<uint64_t> threads() = 0;
  /// The thread of step `step`, its pc, and its registers before the step as far as they are known.
  virtual Status before(uint64_t step, StepIndex::Moment& moment) = 0;
  /// Memory before a step, and how each byte is known; `states` is as long as `into`.
  virtual Status read_memory(uint64_t step, uint64_t address, std::span<uint8_t> into,
                             std::span<ByteState> states) = 0;

  /// The first step at or after `from`, the last one before `before`, …
  /// … whose instruction is at `pc`.
  virtual std::optional<uint64_t> next_execution(uint64_t pc, uint64_t from) = 0;
  virtual std::optional<uint64_t> last_execution(uint64_t pc, uint64_t before) = 0;
  /// … that touches one of `size` bytes.
  virtual std::optional<Touched> next_touch(uint64_t address, uint64_t size, Touch how,
                                            uint64_t from) = 0;
  virtual std::optional<Touched> last_touch(uint64_t address, uint64_t size, Touch how,
                                            uint64_t before) = 0;
  /// … of this thread.
  virtual std::optional<uint64_t> next_of_thread(uint64_t thread, uint64_t from) = 0;
  virtual std::optional<uint64_t> last_of_thread(uint64_t thread, uint64_t before) = 0;

  /// Asked between the pieces of what may take long: is the answer wanted still? Empty: it is.
  std::function<bool()> give_up;
  bool gives_up() const { return give_up && give_up(); }
};

}  // namespace tracewell::target
