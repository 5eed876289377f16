// Sweep: what the bytes of code tell by themselves, one instruction behind the other. Finding that
// out is most of the work of Code, and it holds as long as the bytes, and the functions, are the
// same, whatever stands in the data: so it can be kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/zeroed.h"
#include "machine/code_instruction.h"
#include "pads/range.h"

namespace tracewell::pads {

class Sweep {
 public:
  /// What is known of the byte at an address; kEnds and kFiller of the instruction that starts.
  enum Flag : uint8_t {
    kStart = 1,
    kEntered = 2,
    kPadding = 4,
    kKept = 8,
    kEnds = 16,
    kFiller = 32,
  };

  /// A function, or several that overlap.
  struct Function {
    Range range;
    bool understood = true;         // every byte belongs to an instruction
    bool register_jumps = false;    // any at all
    bool strange_jumps = false;     // not through a table
    bool names_own_inside = false;  // takes the address of one of its labels
  };
  struct Named {
    uint64_t address;
    size_t function;  // its number
  };
  struct SlotJump {
    uint64_t table;
    size_t function;
  };

  /// `stop` is asked now and then; may be empty.
  Sweep(const Area& code, std::vector<Range> functions, const std::function<bool()>& stop);

  /// Why it was left off; null where it was not.
  const char* why() const { return why_; }
  bool is_of(const Area& code, const std::vector<Range>& functions) const;
  Range range() const { return {address_, address_ + bytes_.size()}; }
  Bytes bytes() const { return bytes_.bytes(); }
  /// Does it belong to a page of zeros? Those take no memory.
  bool is_empty(uint64_t address) const {
    return empty_[(address - address_) / ZeroedBytes::kPage];
  }
  Bytes flags() const { return flags_.bytes(); }
  /// Of memory, while it is kept.
  uint64_t memory_bytes() const {
    return 2 * bytes_.size() + empty_.size() / 8 + given_.size() * sizeof(Range) +
           functions_.size() * sizeof(Function) + named_.size() * sizeof(Named) +
           slot_jumps_.size() * sizeof(SlotJump);
  }
  /// They are somebody else's from now on, and it is of no code any more.
  ZeroedBytes take_flags() { return std::move(flags_); }
  /// By address, apart from each other.
  const std::vector<Function>& functions() const { return functions_; }
  /// By lea.
  const std::vector<Named>& named() const { return named_; }
  const std::vector<SlotJump>& slot_jumps() const { return slot_jumps_; }

 private:
  void look_at_all();
  bool left_off();
  uint64_t zeros_in(Range range) const;
  uint64_t cut(Range range) const;
  void take_functions();
  void look_at(Function& function);
  void look_at_gap(Range gap);
  void note(const machine::CodeInstruction& instruction, uint64_t pc, Function* function);
  void note_jump(const machine::CodeInstruction& instruction, Function& function);
  machine::CodeInstruction decode(uint64_t pc) {
    return decoder_->decode(bytes().subspan(pc - address_), pc);
  }
  void mark(uint64_t address, unsigned flags) {
    if (range().holds(address) && !is_empty(address))
      flags_[address - address_] |= static_cast<uint8_t>(flags);
  }
  void mark(Range range, unsigned flags);

  uint64_t address_ = 0;
  ZeroedBytes bytes_;
  ZeroedBytes flags_;         // one for each byte
  std::vector<bool> empty_;   // by page from the beginning
  std::vector<Range> given_;  // functions
  std::vector<Function> functions_;
  std::vector<Named> named_;
  std::vector<SlotJump> slot_jumps_;
  // While it is made:
  std::optional<machine::CodeDecoder> decoder_;
  const std::function<bool()>* stop_ = nullptr;
  const char* why_ = nullptr;
  uint64_t unasked_ = 0;  // instructions since somebody was asked whether it is to be left off
  size_t current_ = 0;    // number of the function that is being looked at
  size_t since_table_load_ = SIZE_MAX;
};

}  // namespace tracewell::pads
