// What a writer knows of the pushes of a session, and what a reader will make of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "formats/trace64_push.h"
#include "model/event.h"

namespace tracewell::formats::trace64 {

class WrittenPushes {
 public:
  explicit WrittenPushes(const Shape& shape)
      : shape_(shape), decoder_(shape.wide), judge_(shape) {}

  void start_session();
  /// A step as it came. `sp`: before it, if that is known.
  void add(Bytes opcode, std::optional<uint64_t> sp, std::span<const Step::MemoryAccess> accesses);
  /// Its block.
  void wrote(Bytes block);
  /// Readers look no further than to where something is missing.
  void lost() { lost_ = true; }
  /// What is to be said at the end of the session; nullopt: the reader finds it out.
  std::optional<PushOld> correction() const;

 private:
  Shape shape_;
  machine::InstructionDecoder decoder_;
  PushJudge judge_;
  std::optional<PushOld> truth_;
  bool lost_ = false;
};

}  // namespace tracewell::formats::trace64
