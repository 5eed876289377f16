// What a writer knows of the pushes of a session, and what a reader will make of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "formats/trace64/scan/push.h"
#include "model/event.h"

namespace tracewell::formats::trace64 {

class WrittenPushes {
 public:
  explicit WrittenPushes(const Shape& shape) : shape_(shape), judge_(shape) {}

  void start_session();
  /// The accesses of a push or call as they came. `sp`: before it, where that is known. True: it is
  /// the first one, which says what the session's are like.
  bool add(std::optional<uint64_t> sp, std::span<const Step::MemoryAccess> accesses);
  /// What a reader will be told of the session's pushes: what its first one was like.
  PushOld old() const { return truth_.value_or(PushOld::Unknown); }
  const std::optional<PushOld>& truth() const { return truth_; }
  /// A block says so.
  void tell() { told_ = true; }
  /// Those that are like that.
  uint64_t count() const { return count_; }
  /// Its block.
  void wrote(Bytes block);
  /// Readers look no further than to where something is missing.
  void lost() { lost_ = true; }
  /// What is to be said at the end of the session; nullopt: the reader finds it out.
  std::optional<PushOld> correction() const;

 private:
  Shape shape_;
  PushJudge judge_;
  std::optional<PushOld> truth_;
  uint64_t count_ = 0;
  bool lost_ = false;
  bool told_ = false;
};

}  // namespace tracewell::formats::trace64
