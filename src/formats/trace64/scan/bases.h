// The base of GS, which an x64dbg trace does not record: it is the difference between where an
// operand was and where its instruction says that it is. Only operands without registers are looked
// at (gs:[0x30], gs:[0x60], as Windows programs have them): these show it by their block alone, so
// that it is the same whatever was read before.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "formats/trace64/blocks/block.h"
#include "machine/operands.h"

namespace tracewell::formats::trace64 {

class SegmentBases {
 public:
  explicit SegmentBases(const Shape& shape) : shape_(shape) {}

  /// Blocks in their order. Behind drop_from() that is `seq` again.
  void look_at(const Block& block, uint64_t seq, uint32_t tid) {
    // Few instructions have a prefix, but every other one an access: asked in this order, a
    // processor guesses the answers right.
    if (!block.opcode.empty() && may_show(block.opcode[0]) && block.memory_count != 0 &&
        names_gs(block.opcode))
      show(block, seq, tid);
  }
  /// Whether look_at() would look twice at a block with an opcode that begins so.
  bool may_show(uint8_t opcode) const { return shape_.wide && is_prefix(opcode); }
  /// Step `seq` may be the first of a session.
  void may_begin(uint64_t seq) { begins_.push_back(seq); }
  /// Steps from `seq` on are none.
  void drop_from(uint64_t seq);

  /// The base of a thread at a step, by what was shown from step `since` to there; it holds for
  /// that thread's steps in front of step `until`.
  struct Span {
    std::optional<uint64_t> base;
    uint64_t until = UINT64_MAX;
  };
  Span at(uint32_t tid, uint64_t seq, uint64_t since) const;

  /// Where what is shown is news, by thread.
  struct Shown {
    uint64_t seq = 0, base = 0;
  };
  const std::map<uint32_t, std::vector<Shown>>& shown() const { return shown_; }
  bool given_up() const { return given_up_; }
  /// What another one of the same file had; may_begin() is to be told as well.
  void take(std::map<uint32_t, std::vector<Shown>> shown, bool given_up);

 private:
  static bool is_prefix(uint8_t byte) {
    constexpr uint64_t kLow = uint64_t{1} << 0x26 | uint64_t{1} << 0x2e | uint64_t{1} << 0x36 |
                              uint64_t{1} << 0x3e;
    if (byte < 0x40) return (kLow >> byte & 1) != 0;
    return (byte >= 0x64 && byte <= 0x67) || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
  }
  static bool names_gs(Bytes opcode);
  void show(const Block& block, uint64_t seq, uint32_t tid);

  Shape shape_;
  std::vector<uint64_t> begins_;  // what was shown before the last may be of another session
  size_t count_ = 0;
  bool given_up_ = false;  // no program changes it so often
  std::map<uint32_t, std::vector<Shown>> shown_;
  std::shared_ptr<machine::InstructionDecoder> decoder_;
};

}  // namespace tracewell::formats::trace64
