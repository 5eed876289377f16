#include "formats/trace64/scan/hidden.h"

#include <algorithm>

#include "formats/trace64/blocks/user.h"

namespace tracewell::formats::trace64 {
namespace {

// How far a reading is followed where there is no full dump.
constexpr uint64_t kFarBytes = 128 << 10;
constexpr uint32_t kFarBlocks = 4096;
// Where the file ends inside of a block, so many more blocks show which reading is right.
constexpr uint32_t kFurther = 4;
constexpr uint32_t kThreadIdMax = 1 << 20;

bool lists_pc(Bytes file, uint64_t offset, const Shape& shape, bool hidden_tid) {
  Block block;
  if (read_block(file, offset, shape, hidden_tid, block) != Reading::Whole) return false;
  return lists_word(block, shape.pc_word);
}

/// Windows counts thread ids in fours, and there is no other reason for an id than a switch.
bool is_likely_id(Bytes file, const HiddenTids::Question& question) {
  const uint64_t id = load_uint(file.data() + question.offset + 4, 4, Endian::Little);
  return id != question.tid && id % 4 == 0 && id != 0 && id < kThreadIdMax;
}

/// What a few blocks say, read in either way.
HiddenTid look_near(Bytes file, const HiddenTids::Question& question, const Shape& shape,
                    bool& met_end) {
  const auto decided = [](bool hidden) { return hidden ? HiddenTid::Yes : HiddenTid::No; };
  const uint64_t offset = question.offset;
  Block block;
  const Reading reading = read_block(file, offset, shape, true, block);
  met_end |= reading == Reading::Cut;
  // Whatever else its rest may look like.
  if (question.announced && reading == Reading::Cut) return HiddenTid::Yes;
  Look as_plain{file, shape}, as_hidden{file, shape};
  const uint32_t plain = as_plain.lasting(offset, false, kLookAhead);
  const uint32_t hidden = as_hidden.lasting(offset, true, kLookAhead);
  met_end |= as_plain.met_end || as_hidden.met_end;
  if (plain != hidden) {
    // A reserved bit alone is no reason to read everything otherwise.
    const uint32_t whole_plain = Look{file, shape, false}.lasting(offset, false, kLookAhead);
    const uint32_t whole_hidden = Look{file, shape, false}.lasting(offset, true, kLookAhead);
    return decided(whole_plain == whole_hidden ? hidden > plain : whole_hidden > whole_plain);
  }
  if (as_hidden.skips && !as_plain.skips) return HiddenTid::No;
  if (hidden == 0 || question.announced) return decided(hidden != 0);
  // Nearly every instruction moves the program counter.
  const bool plain_pc = lists_pc(file, offset, shape, false);
  if (plain_pc != lists_pc(file, offset, shape, true)) return decided(!plain_pc);
  // No thread goes on with the very registers of another one.
  if (block.register_count == 0) return HiddenTid::Unclear;
  return !plain_pc && is_likely_id(file, question) ? HiddenTid::Yes : HiddenTid::Unclear;
}

}  // namespace

/// One reading of the file from a block on, as it is written behind that.
class HiddenTids::Way {
 public:
  /// Cut: the file ends inside of a block. Arrives: at a full dump, at the end, or far away.
  enum class State : uint8_t { Goes, Broken, Cut, Arrives };

  Way(Bytes file, const Shape& shape, uint64_t offset, bool hidden)
      : file_(file), shape_(shape), from_(offset), at_(offset), hidden_(hidden) {}

  uint64_t at() const { return at_; }
  uint32_t blocks() const { return blocks_; }
  State state() const { return state_; }
  bool met_end() const { return met_end_; }

  /// One block further.
  void go() {
    if (at_ == file_.size()) {
      met_end_ = true;
      state_ = State::Arrives;
      return;
    }
    if (at_ - from_ >= kFarBytes || blocks_ >= kFarBlocks) {
      state_ = State::Arrives;
      return;
    }
    Block block;
    const Reading reading = read_block(file_, at_, shape_, hidden_ && at_ == from_, block);
    if (reading != Reading::Whole && at_ != from_ && is_dump_with_hidden_id()) {
      state_ = State::Arrives;
    } else if (reading == Reading::Cut) {
      met_end_ = true;
      state_ = ends_inside() ? State::Cut : State::Broken;
    } else if (reading == Reading::Bad || !is_plausible(block, shape_)) {
      state_ = State::Broken;
    } else if (block.is_full(shape_) && at_ != from_) {
      state_ = State::Arrives;
    } else {
      ++blocks_;
      at_ += block.size;
      if (block.is_user() && block.size >= kLargeUserBlock) leave_large(block);
    }
  }

 private:
  /// Not so a user block whose size is any number.
  bool ends_inside() const {
    if (file_[at_] < kUserBlockMin) return file_.size() - at_ < kBlockBytesMax;
    if (file_.size() - at_ < 5) return true;
    return load_uint(file_.data() + at_ + 1, 4, Endian::Little) < kBlockBytesMax;
  }
  bool is_dump_with_hidden_id() const {
    if (file_[at_] != 0 || file_.size() - at_ < 4 || file_[at_ + 1] != shape_.words) return false;
    Block block;
    return (file_[at_ + 3] & kThreadFlag) == 0 &&
           read_block(file_, at_, shape_, true, block) == Reading::Whole;
  }
  /// What is behind a user block that is large shows whether it is one.
  void leave_large(const Block& block) {
    if (read_own_block(block.type, block.user_data)) return;
    Look look{file_, shape_};
    const bool good = look.lasting(at_, false, kLookAhead) == kLookAhead;
    met_end_ |= look.met_end;
    state_ = good ? State::Arrives : State::Broken;
  }

  Bytes file_;
  const Shape& shape_;
  uint64_t from_, at_;
  bool hidden_;  // at `from_`
  uint32_t blocks_ = 0;
  State state_ = State::Goes;
  bool met_end_ = false;
};

/// Four bytes too early, a word with zeros on top leaves a block that tells nothing behind the one
/// that is asked about; without it, the other reading is at the same place.
bool HiddenTids::leaves_zeros(Bytes file, const Question& question) const {
  Block plain, hidden;
  if (read_block(file, question.offset, shape_, false, plain) != Reading::Whole ||
      read_block(file, question.offset, shape_, true, hidden) != Reading::Whole ||
      hidden.size != plain.size + kBlockBytesMin)
    return false;
  const uint8_t* const behind = file.data() + question.offset + plain.size;
  return load_uint(behind, kBlockBytesMin, Endian::Little) == 0 &&
         (question.faulty || is_likely_id(file, question));
}

/// Read as it is written, is there no contradiction up to the next full dump?
bool HiddenTids::leads_on(Bytes file, const Question& question, bool& met_end) {
  using State = Way::State;
  const uint64_t offset = question.offset;
  if (leaves_zeros(file, question)) return false;
  doomed_.erase(doomed_.begin(), std::ranges::lower_bound(doomed_, offset));
  Way way(file, shape_, offset, false);
  std::vector<uint64_t> places;
  bool broken = false;
  while (way.state() == State::Goes && !broken) {
    places.push_back(way.at());
    way.go();
    broken = way.state() == State::Broken || std::ranges::binary_search(doomed_, way.at());
  }
  met_end |= way.met_end();
  if (broken) {
    const auto old = static_cast<ptrdiff_t>(doomed_.size());
    doomed_.insert(doomed_.end(), places.begin(), places.end());
    std::inplace_merge(doomed_.begin(), doomed_.begin() + old, doomed_.end());
    return false;
  }
  // Who has hidden ids before does it again.
  if (question.faulty && question.announced && way.met_end()) return false;
  if (way.state() == State::Cut && is_likely_id(file, question)) {
    Way other(file, shape_, offset, true);
    while (other.state() == State::Goes) other.go();
    if (other.blocks() >= way.blocks() + kFurther) return false;
  }
  sound_to_ = way.at();
  return true;
}

HiddenTid HiddenTids::find(Bytes file, const Question& question, bool& met_end) {
  if (question.offset < sound_to_) return HiddenTid::No;
  const HiddenTid near = look_near(file, question, shape_, met_end);
  if (near != HiddenTid::Yes || !leads_on(file, question, met_end)) return near;
  return HiddenTid::No;
}

}  // namespace tracewell::formats::trace64
