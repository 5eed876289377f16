// The registers of an x64dbg trace as it is walked: from words of the dump to GDB's registers.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "formats/trace64/blocks/words.h"
#include "formats/trace64/scan/scan.h"
#include "model/registers.h"

namespace tracewell::formats::trace64 {

class RegisterTracker {
 public:
  explicit RegisterTracker(const Shape& shape);

  /// Nothing is known.
  void reset();
  void load(const WordState& words);
  /// The same, at less cost where most words are what they were.
  void move_to(const WordState& words);
  /// Takes in a block's words. `changed` gets the registers that are different now, or known now,
  /// or not any more. `unknown`: a bit a register, for those that the words do not tell in truth.
  void apply(const Block& block, std::vector<uint32_t>& changed, Bytes unknown = {});

  const WordState& words() const { return words_; }
  const RegisterState& registers() const { return registers_; }
  /// Of a register that is known.
  Bytes value(uint32_t index) const {
    const WordMap::Extent& at = map_.extent(index);
    return Bytes(registers_.block).subspan(at.offset, at.size);
  }
  /// Words that the last block listed without need, if it is no full dump: a recorder does that
  /// where the instruction is about to change them.
  const std::vector<uint16_t>& repeated() const { return repeated_; }

 private:
  void set_first_word(uint32_t word, uint64_t value, std::vector<uint32_t>& changed);
  void update(uint32_t index, std::vector<uint32_t>& changed);
  void update_all_of(uint32_t word, std::vector<uint32_t>& changed);
  void forget(Bytes unknown, std::vector<uint32_t>& changed);
  void forget_words();
  bool is_masked(uint32_t word) const;
  void update_rest(uint8_t groups, std::vector<uint32_t>& changed);

  const WordMap& map_;
  WordState words_;
  RegisterState registers_;
  std::vector<uint16_t> repeated_;
  std::vector<uint32_t> looked_at_;  // by register: the last block that named one of its words
  uint32_t round_ = 0;
  std::vector<uint32_t> changed_;  // nobody wants to know
  std::bitset<kRegistersMax> unknown_;  // of the block that is being applied
  bool masked_ = false;                 // some register was ever forgotten
};

}  // namespace tracewell::formats::trace64
