// The blocks of an x64dbg trace that are steps, one behind the other, and what stands between two.
#pragma once

#include <cstdint>

#include "formats/trace64/scan/contents.h"

namespace tracewell::formats::trace64 {

/// What stands between two blocks.
enum class Border : uint8_t { None, Gap, Session, End };

/// Goes by what the scan has found. `contents` must outlive it; when it is extended, a new one is
/// needed.
class BlockChain {
 public:
  static constexpr uint64_t kNoGap = UINT64_MAX;

  explicit BlockChain(const Contents& contents);

  /// The block of step `seq`, which is the first one at offset `from` or behind it, with what
  /// blocks of ours in front of it say of it; nothing in it is to be relied on where there is none
  /// (End). `gap` becomes one of Scan::gaps(), where there is one; also where a session begins.
  Border find(uint64_t from, uint64_t seq, Block& block, uint64_t& gap) const {
    if (from >= plain_from_ && from < plain_to_ && seq < plain_to_seq_ &&
        bytes_[from] < kUserBlockMin &&
        read_block(bytes_, from, shape_, false, block) == Reading::Whole)
      return Border::None;
    return find_border(from, seq, block, gap);
  }
  /// The same of the step behind step `seq`, whose block is `block`. Remembers how far it need not
  /// look for borders: for who goes on and on.
  Border find_behind(const Block& block, uint64_t seq, Block& next, uint64_t& gap) {
    const uint64_t behind = block.offset + block.size;
    if (behind < plain_from_ || behind >= plain_to_ || seq + 1 >= plain_to_seq_)
      find_plain(behind, seq);
    return find(behind, seq + 1, next, gap);
  }
  /// Are there registers that are not known although their words are there?
  bool has_unknown() const { return contents_->scan.has_unknown(); }

 private:
  Border find_border(uint64_t from, uint64_t seq, Block& block, uint64_t& gap) const;
  void find_plain(uint64_t from, uint64_t seq);

  const Contents* contents_;
  Bytes bytes_;
  Shape shape_;
  // Up to here, the block at plain_from_ and those behind it are one behind the other, of one
  // session, and what their flags say.
  uint64_t plain_from_ = 0, plain_to_ = 0, plain_to_seq_ = 0;
};

}  // namespace tracewell::formats::trace64
