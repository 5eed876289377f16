// What a step of an x64dbg trace left in its thread's registers, where another thread's step comes
// next: the thread's own next step finds it, as nobody else changes its registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "formats/trace64/scan/chain.h"
#include "formats/trace64/state/registers.h"
#include "model/event.h"

namespace tracewell::formats::trace64 {

/// Walks in front of a reader, as far as that asks for, so that each block is looked at once more
/// and not once more for each thread. What it answers depends on the step alone, not on what was
/// asked before: a reader that begins anywhere is told the same.
class ThreadsAhead {
 public:
  /// So many steps behind a step its thread has to go on. Longer, and it would take too long to
  /// begin with a step somewhere whose thread never does.
  static constexpr uint64_t kWindow = 1 << 16;
  /// Threads and bytes that are kept at most. Who asks for what was not kept makes it begin anew.
  static constexpr size_t kThreadsKept = 1024;
  static constexpr size_t kBytesKept = 8 << 20;

  struct Left {
    /// Registers of which it was known what they held before the step, and that hold something else
    /// now, or nothing that is known (no value). By ascending index.
    std::vector<Step::RegisterChange> registers;
    /// false: of others nobody knew what they held, and the next step tells it.
    bool all = true;
    uint64_t found_at = 0;       // the thread's next step
    std::vector<uint8_t> bytes;  // the values
  };

  ThreadsAhead(const BlockChain& chain, const Shape& shape);
  /// Another part of the trace, or a file that has grown.
  void reset(const BlockChain& chain);
  /// What step `seq` of thread `tid` left; stays until the next call. nullptr: within the window
  /// nobody tells, or something else comes first: a loss, another session, the end of the file.
  /// `before` is the tracker at that step; `next` the block behind it, of another thread.
  const Left* left_by(uint64_t seq, uint64_t tid, const RegisterTracker& before,
                      const Block& next);

 private:
  struct Thread {
    uint64_t left_at = 0;     // its last step
    bool away = false;        // others have run since
    RegisterState registers;  // before that step
  };
  void forget();
  bool waits(uint64_t tid, uint64_t seq) const;
  void begin(uint64_t seq, uint64_t tid, const RegisterTracker& before, const Block& next);
  void advance(uint64_t asked);
  void go_to(const Block& block, bool switches);
  void leave();
  void come_back(Thread& thread, uint64_t asked);
  Left compare(const RegisterState& before, const RegisterState& now) const;

  BlockChain chain_;
  Shape shape_;
  const RegisterLayout* layout_;
  // The last block that was taken in. Only where threads switch somebody wants to know registers;
  // in between the tracker need not follow, but where words do not tell everything.
  bool by_words_ = true;
  WordState words_;
  bool follows_ = true;
  std::optional<RegisterTracker> tracker_;
  Block block_;
  uint64_t seq_ = 0;
  uint64_t tid_ = 0;
  bool ended_ = false;  // nothing that counts comes behind it
  std::unordered_map<uint64_t, Thread> threads_;
  std::unordered_map<uint64_t, Left> left_;  // by step, for those that nobody has asked for yet
  size_t left_bytes_ = 0;
  Left answer_;
  std::vector<uint32_t> changed_;  // nobody wants to know
};

}  // namespace tracewell::formats::trace64
