// Whose content stands as the old one in the entry of a push or call: until June 2024 that of the
// slot that is written, since then that of [sp]. No field says so; what is known of both may.
#pragma once

#include <cstdint>
#include <map>

#include "formats/trace64/blocks/block.h"
#include "formats/trace64/scan/scan.h"
#include "machine/operands.h"

namespace tracewell::formats::trace64 {

enum class PushOld : uint8_t { Unknown = 0, Slot = 1, Top = 2 };
constexpr uint8_t kPushOldMax = 2;

/// Watches the blocks of one session from its beginning.
class PushJudge {
 public:
  explicit PushJudge(const Shape& shape) : shape_(shape), decoder_(shape.wide) {}

  void restart();
  void add(const Block& block);
  /// What has been seen is enough: further blocks change nothing.
  bool is_sure() const { return sure_; }
  PushOld verdict() const;

  bool both_entries() const { return both_entries_; }  // [sp] and the slot: some days of June 2024
  bool leave_entries() const { return leave_entries_; }
  bool leave_bare() const { return leave_bare_; }

 private:
  enum class Fit : uint8_t { No, Unknown, Yes };
  Fit fit(uint64_t address, uint64_t stored) const;
  void look(const Block& block);
  void vote(bool slot);
  void remember(const Block& block);
  uint64_t word_at(const uint8_t* words, uint32_t entry) const;

  Shape shape_;
  machine::InstructionDecoder decoder_;
  WordState state_;
  std::map<uint64_t, uint64_t> memory_;  // word by address; they do not overlap
  uint64_t blocks_ = 0;
  int slot_ = 0, top_ = 0;  // votes
  bool sure_ = false;
  bool both_entries_ = false, leave_entries_ = false, leave_bare_ = false;
};

}  // namespace tracewell::formats::trace64
