// From an x64dbg trace's memory entries to accesses, and back. The entries are pieces of a word
// each, without size and direction; the instruction's operands say what they belong to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/trace64/blocks/block.h"
#include "formats/trace64/scan/push.h"
#include "formats/trace64/scan/scan.h"
#include "formats/trace64/state/repeats.h"
#include "formats/trace64/state/seen.h"
#include "machine/operands.h"
#include "model/batch.h"

namespace tracewell::formats::trace64 {

/// What is known around a block.
struct MemoryContext {
  const WordState* state = nullptr;             // before it
  const machine::Instruction* instruction = nullptr;
  Behind behind;                                // where its thread went on, if that is known
  PushOld push_old = PushOld::Slot;             // of pushes and calls
};

/// A block's accesses, in the order of the entries; contents are in the file or in `batch`.
class MemoryReader {
 public:
  MemoryReader(const Shape& shape, const Block& block, const MemoryContext& context, Batch& batch);
  void read(std::vector<Step::MemoryAccess>& out);
  bool incomplete() const { return incomplete_; }

 private:
  using Kind = Step::MemoryAccess::Kind;
  struct Place {
    uint32_t entry = 0;
    uint32_t entries = 0;
  };
  uint64_t address(uint32_t entry) const;
  bool changed(uint32_t entry) const { return (block_.memory_flags[entry] & 1) == 0; }
  bool is_row(Place place, uint64_t from) const;
  uint64_t cut(uint64_t address) const;
  std::optional<uint64_t> sp(int above) const;
  bool known(const machine::MemoryOperand& operand) const;
  bool operand(const machine::MemoryOperand& operand);
  bool stack_operand(const machine::MemoryOperand& operand);
  bool far_call(const machine::MemoryOperand& operand);
  void own_stack_entry();
  void missing(const machine::MemoryOperand& operand, std::optional<uint64_t> address);
  void put(Place place, Kind kind, uint32_t size);
  void put_repeated(Place place, Kind kind, const machine::MemoryOperand& operand);
  void put_rest(uint64_t address, Kind kind, uint64_t size, bool down);
  void put_tail(Place place, uint32_t size);
  void put_push(uint32_t entry, uint32_t size, PushOld old);
  void put_nearby(Place place);
  void as_stored();
  bool unreadable(Place place) const;
  Bytes old_of(Place place) const;
  Bytes new_of(Place place);

  const Shape& shape_;
  const Block& block_;
  const MemoryContext& context_;
  const machine::Instruction& instruction_;
  Batch& batch_;
  std::vector<Step::MemoryAccess>* out_ = nullptr;
  std::array<const uint8_t*, kMemoryMax> new_;  // of the block's entries; nullptr: not changed
  machine::AddressState addresses_;
  uint32_t used_ = 0;  // entries
  std::optional<StringRun> run_;  // of a repeated instruction
  bool faulted_ = false;
  bool idle_ = false;  // a repeated instruction whose counter is zero: touches nothing
  bool incomplete_ = false;
};

/// A block's memory as it is stored.
struct MemoryEntries {
  uint32_t count = 0;
  std::array<uint8_t, kMemoryMax> flags;
  std::array<uint64_t, kMemoryMax> address;
  std::array<uint64_t, kMemoryMax> old_word;
  std::array<uint64_t, kMemoryMax> new_word;

  MemoryEntries() = default;
  /// Most have few entries.
  MemoryEntries(const MemoryEntries& other) { *this = other; }
  MemoryEntries& operator=(const MemoryEntries& other);

  /// From accesses; those of unknown contents have no entry, and what is beyond kUsualMemoryMax is
  /// left out, as x64dbg opens no file that has more.
  /// Bytes that no access tells are as `seen` has them, or 0. `push`: as recorders write these
  /// since June 2024, where accesses say so. False: there are such bytes.
  bool fill(const Shape& shape, std::span<const Step::MemoryAccess> accesses, bool push,
            const SeenMemory* seen = nullptr);
  /// From the bytes behind a block's registers. False: they are no such thing.
  bool parse(const Shape& shape, uint32_t entries, Bytes bytes);
  void append_to(std::vector<uint8_t>& out, const Shape& shape) const;
  bool same_as(const Shape& shape, const Block& block) const;
};

}  // namespace tracewell::formats::trace64
