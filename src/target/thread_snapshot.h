// ThreadSnapshot: a thread that stands still and its process's memory, as a Snapshot; of a live
// process or a recorded one.
#pragma once

#include "model/snapshot.h"
#include "target/target.h"

namespace tracewell::target {

/// Reads when it is asked: what it shows is of one moment as long as nothing runs.
class ThreadSnapshot final : public Snapshot {
 public:
  ThreadSnapshot(Target& target, Pid pid, Tid tid) : target_(target), pid_(pid), tid_(tid) {}

  const RegisterLayout& layout() const override { return target_.layout(pid_); }
  Endian endian() const override { return target_.endian(); }
  /// Errors are those of Target::read_registers().
  Result<RegisterState> registers() override;
  Status read_memory(uint64_t address, std::span<uint8_t> bytes,
                     std::span<ByteState> states) override;

 private:
  Target& target_;
  Pid pid_;
  Tid tid_;
};

}  // namespace tracewell::target
