// The first pass over an x64dbg trace: how many steps, where each full dump is, what is broken and
// how reading can go on behind it. Looks at block heads only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/trace64/blocks/block.h"
#include "formats/trace64/scan/bases.h"
#include "formats/trace64/scan/hidden.h"
#include "formats/trace64/scan/places.h"
#include "model/problem.h"

namespace tracewell::formats::trace64 {

class Scan {
 public:
  static constexpr uint64_t kCheckpointEvery = 4096;  // blocks, where there are no full dumps
  // Of user blocks that are kept: their bytes, and what each costs besides; many may be empty.
  static constexpr uint64_t kUserBytesMax = 64 << 20, kUserBlockCost = 128;

  Scan(const Shape& shape, uint64_t blocks_at)
      : shape_(shape), blocks_at_(blocks_at), at_(blocks_at), lead_(blocks_at), ids_(shape),
        bases_(shape) {}

  /// Goes on where it stopped, to the end of `file`, which is the same as before or longer.
  /// `progress` is told the offset now and then.
  void extend(Bytes file, ProblemLog* problems, const std::function<void(uint64_t)>& progress);
  /// Back to a place near the end up to which nothing was decided by what the file's end looked
  /// like, so that extend() finds what it would if the file had always been longer. `problems`
  /// becomes what had been told by then. False: there is no such place.
  bool rewind(ProblemLog& problems);

  const Shape& shape() const { return shape_; }
  uint64_t count() const { return count_; }
  uint64_t end() const { return at_; }  // offset behind the last whole block
  const std::vector<Keyframe>& keyframes() const { return keyframes_; }
  const std::vector<uint64_t>& keyframe_steps() const { return keyframe_steps_; }
  const std::vector<uint64_t>& sessions() const { return sessions_; }
  /// Those, and the steps behind gaps.
  const std::vector<uint64_t>& stretches() const { return stretches_; }
  const std::vector<Gap>& gaps() const { return gaps_; }
  /// Without those of ours that are about one step alone, which are found in front of it.
  const std::vector<UserBlock>& user_blocks() const { return user_blocks_; }
  const LeftOut& left_out() const { return left_out_; }
  /// The first full dump of which a block of ours tells whether a session begins; nullopt: none.
  std::optional<uint64_t> sessions_told_from() const;
  /// Blocks of ours say that registers are not known though words of them are listed.
  bool has_unknown() const { return has_unknown_; }
  /// Nothing is missing, odd or not known: who reads only some of the steps misses no problem, and
  /// finds each as it is among all the others.
  bool is_sound() const {
    return gaps_.empty() && lost_end_.empty() && !has_unknown_ && odd_at_ == 0 && without_pc_ == 0;
  }
  /// Why what was recorded last is not in the file; "" when it ends with a whole block.
  const std::string& lost_end() const { return lost_end_; }
  /// Zeros at the end of `file` were taken for bytes that nobody has written, and not for steps.
  bool ends_in_zeros(Bytes file) const;
  /// Offsets of blocks with a thread id that the flag denies.
  const std::vector<uint64_t>& hidden() const { return hidden_; }
  const std::vector<uint32_t>& threads() const { return threads_; }
  /// First step of the session that step `seq` is of.
  uint64_t session_of(uint64_t seq) const;
  /// The base of GS at a step of thread `tid`, as far as its session has shown it.
  SegmentBases::Span base_at(uint32_t tid, uint64_t seq) const {
    return bases_.at(tid, seq, session_of(seq));
  }
  bool is_hidden(uint64_t offset) const;
  /// From `offset`, where a block or a gap begins: to where blocks follow each other without a gap,
  /// and have a thread id just where their flag says so.
  uint64_t plain_to(uint64_t offset) const;
  /// The last keyframe at or before `seq`; nullptr when there are no blocks.
  const Keyframe* keyframe_at(uint64_t seq) const;
  /// The state before a keyframe's block, without the block's own words.
  const WordState& state_at(const Keyframe& keyframe) const;

 private:
  friend class Notes;
  /// A place to read on from, and what was known there.
  struct Resume {
    uint64_t at = 0, count = 0;
    uint32_t tid = 0;
    bool after_flagged = false, announced = false;
    uint64_t last_at = 0, lead = 0;
    LeftOut left_out;
    std::vector<uint32_t> threads;
    ProblemLog problems;
  };
  Resume here() const;
  void go_back_to(const Resume& place);
  /// What is decided here may be decided otherwise when the file is longer.
  void leave_open();
  /// One block further; false at the end of what can be read.
  bool step(Bytes file);
  bool announces(const Block& block, uint64_t seq) const;
  void count_block(Bytes file, const Block& block);
  void count_plain_blocks(Bytes file);
  bool may_begin_at(size_t keyframe) const;
  void add_checkpoint(Bytes file, const Block& block);
  bool user_block(Bytes file, const Block& block);
  bool list_user_block(uint64_t seq, const Block& block);
  void list_user_blocks(Bytes file, const Keyframe& from, uint64_t to);
  void forget_left_out(Bytes file, uint64_t from, uint64_t to);
  std::optional<bool> pass_zeros(Bytes file);
  /// Finds the next place to read on. `why` something is wrong at at_. False: there is none.
  bool recover(Bytes file, std::string why, bool zeros = false);
  uint64_t own_blocks_in_front_of(Bytes file, uint64_t dump, uint64_t from) const;
  void drop_from(Bytes file, uint64_t offset);
  void drop_half_written(Bytes file);
  void forget_from(uint64_t offset);
  void may_resume_here(Bytes file);
  uint64_t where_doubt_begins(Bytes file) const;
  // In sessions.cc.
  struct Habit;
  Joint joint(Bytes file, const Block& dump) const;
  Joint compare_words(Bytes file, const Block& dump) const;
  bool follows(Bytes file, const Block& dump) const;
  std::optional<Joint> told_joint(Bytes file, uint64_t dump) const;
  void find_sessions();
  void find_stretches();
  bool is_session(size_t keyframe, uint64_t base, bool& flushes) const;
  void tell_end(Bytes file);
  void tell_unusual(const Block& block);
  void tell(uint64_t offset, Problem::Severity severity, std::string code, std::string text);
  void seen(uint32_t tid);

  Shape shape_;
  uint64_t blocks_at_ = 0;
  Block block_;  // that is looked at: to clear one for each step takes as long as to read it
  uint64_t at_ = 0;
  uint64_t count_ = 0;
  uint32_t tid_ = 0;
  uint64_t last_at_ = 0;     // where the last step's block is; 0 = not known
  uint64_t lead_;            // behind the last step's block, or the gap
  bool after_flagged_ = false;
  bool announced_ = false;   // the last block's id says that another thread follows
  std::string end_why_;
  Reading end_reading_ = Reading::Whole;
  std::string lost_end_;
  ProblemLog* problems_ = nullptr;
  std::optional<Resume> resume_;
  std::optional<Resume> open_;  // what is behind it was decided by where the file ended
  // What was told of steps behind it; and last time, which is not told again.
  std::vector<std::pair<uint64_t, std::string>> told_, told_before_;
  uint64_t zeros_to_ = 0;       // up to here, zeros are blocks
  HiddenTids ids_;
  std::vector<Keyframe> keyframes_;
  std::vector<uint64_t> keyframe_steps_;
  std::vector<WordState> checkpoints_;
  std::vector<uint64_t> sessions_, stretches_;
  std::vector<Gap> gaps_;
  std::vector<UserBlock> user_blocks_;
  uint64_t user_cost_ = 0;   // of these
  LeftOut left_out_;
  bool has_unknown_ = false;
  uint64_t odd_at_ = 0;      // the first block with reserved flags; 0 = there is none
  uint64_t without_pc_ = 0;  // steps at the beginning, in front of the first that tells its own
  std::vector<uint64_t> hidden_;
  std::vector<uint32_t> threads_;
  SegmentBases bases_;
};

}  // namespace tracewell::formats::trace64
