// Snapshot: registers and memory at one moment, whoever knows them: a step of a trace, a tracepoint
// frame, a thread that stands still. What nobody knows is not shown as known (docs/decisions/0015,
// 0026).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/endian.h"
#include "base/result.h"
#include "model/event.h"
#include "model/registers.h"

namespace tracewell {

/// How a byte of memory is known at a moment.
enum class ByteState : uint8_t {
  Unknown,
  Kept,      // it was so before a moment at which others may have written it
  Inferred,  // it is so later, and nobody can have written it in between
  Told,      // it was recorded, or is read from what it is in
};

struct KnownMemory {
  uint64_t address = 0;
  std::vector<uint8_t> bytes;     // 0 where nobody knows
  std::vector<ByteState> states;  // as many
};

/// Used by one thread at a time. What it is made of must outlive it.
class Snapshot {
 public:
  virtual ~Snapshot() = default;

  virtual const RegisterLayout& layout() const = 0;
  /// Of registers and of numbers in memory.
  virtual Endian endian() const = 0;
  /// All of them, as far as they are known. An error: they could not be read, and what they are is
  /// not known to be unknown.
  virtual Result<RegisterState> registers() = 0;
  /// Fills both, which are as long as each other. Addresses do not go around the end: what is
  /// behind it is not known.
  virtual Status read_memory(uint64_t address, std::span<uint8_t> bytes,
                             std::span<ByteState> states) = 0;

  /// One register by its index in the layout, in the byte order of endian(). nullopt: not known.
  /// InvalidArgument: there is none.
  Result<std::optional<std::vector<uint8_t>>> register_value(uint32_t index);
  Result<KnownMemory> memory(uint64_t address, size_t size_bytes);
};

/// What a tracepoint collected at one hit. The pc is known where the tracepoint's place is, also if
/// it was not collected. What was not collected is not known, whatever the program's memory is now.
class FrameSnapshot final : public Snapshot {
 public:
  /// Borrows both.
  FrameSnapshot(const Frame& frame, const RegisterLayout& layout, Endian endian)
      : frame_(&frame), layout_(&layout), endian_(endian) {}

  const RegisterLayout& layout() const override { return *layout_; }
  Endian endian() const override { return endian_; }
  Result<RegisterState> registers() override;
  Status read_memory(uint64_t address, std::span<uint8_t> bytes,
                     std::span<ByteState> states) override;

 private:
  const Frame* frame_;
  const RegisterLayout* layout_;
  Endian endian_;
};

}  // namespace tracewell
