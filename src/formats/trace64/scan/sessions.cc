// Where sessions begin. x64dbg appends to a file that is there already. Each session begins with a
// full dump, and has one every 512 blocks from then on. An exception may bring a dump too (since
// May 2026); then the old rhythm goes on.
#include <algorithm>
#include <bitset>
#include <cstring>
#include <utility>

#include "formats/trace64/blocks/user.h"
#include "formats/trace64/scan/scan.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr uint32_t kNewsMin = 16, kSurprisesMin = 8;  // words

std::optional<uint64_t> pc_of(const Block& block, const Shape& shape) {
  uint32_t word = 0;
  for (uint32_t i = 0; i < block.register_count; ++i, ++word)
    if ((word += block.positions[i]) == shape.pc_word)
      return load_uint(block.values + i * shape.word, shape.word, Endian::Little);
  return std::nullopt;
}

/// How far a direct jump or call leads from behind itself; 0: it is none.
int64_t distance_of(Bytes opcode) {
  const size_t size = opcode.size();
  if (size == 2 && (opcode[0] == 0xeb || opcode[0] >> 4 == 7))
    return static_cast<int8_t>(opcode[1]);
  const bool near = size == 5 && (opcode[0] == 0xe8 || opcode[0] == 0xe9);
  const bool conditional = size == 6 && opcode[0] == 0x0f && opcode[1] >> 4 == 8;
  if (!near && !conditional) return 0;
  return static_cast<int32_t>(load_uint(opcode.data() + size - 4, 4, Endian::Little));
}

}  // namespace

/// Does the program go on at the dump where the block in front of it leads?
bool Scan::follows(Bytes file, const Block& dump) const {
  Block last;
  if (last_at_ == 0 ||
      read_block(file, last_at_, shape_, is_hidden(last_at_), last) != Reading::Whole)
    return false;
  const auto from = pc_of(last, shape_), to = pc_of(dump, shape_);
  if (!from || !to) return false;
  const uint64_t mask = shape_.wide ? UINT64_MAX : UINT32_MAX;
  const uint64_t behind = (*from + last.opcode.size()) & mask;
  return *to == behind ||
         *to == ((behind + static_cast<uint64_t>(distance_of(last.opcode))) & mask);
}

/// Whether the blocks before a dump announce what changes, as x64dbg does.
struct Scan::Habit {
  WordState state;
  std::bitset<kWordsMax> listed;  // by the last block
  bool repeats = false;           // a word was listed without having changed
  uint32_t news = 0;              // words that had changed
  bool unannounced = false;       // some of them without having been listed before

  void add(const Block& block, const Shape& shape) {
    std::bitset<kWordsMax> now;
    uint32_t word = 0;
    for (uint32_t i = 0; i < block.register_count; ++i, ++word) {
      word += block.positions[i];
      if (word >= shape.words) break;  // somebody has changed the file
      now.set(word);
      if (block.is_full(shape) || !state.valid[word]) continue;
      if (std::memcmp(state.dump.data() + word * shape.word, block.values + i * shape.word,
                      shape.word) == 0) {
        repeats = true;
      } else {
        ++news;
        unannounced |= !listed[word];
      }
    }
    listed = now;
    state.apply(block, shape);
  }
};

/// x64dbg lists the words that an instruction is about to change; where others are different now,
/// it was not there. Who does not write like that leaves one unsure.
Joint Scan::compare_words(Bytes file, const Block& dump) const {
  const Keyframe& from = keyframes_.back();
  if (!gaps_.empty() && gaps_.back().to > from.offset) return Joint::Unsure;
  Habit habit;
  habit.state = state_at(from);
  Block block;
  bool was_here = false;  // the dump's thread
  for (uint64_t at = from.offset; at < dump.offset; at += block.size) {
    if (read_block(file, at, shape_, is_hidden(at), block) != Reading::Whole) return Joint::Unsure;
    if (block.is_user()) continue;
    habit.add(block, shape_);
    was_here |= block.has_tid && block.tid == dump.tid;
  }
  const WordState before = habit.state;
  habit.state.apply(dump, shape_);
  uint32_t surprises = 0, changes = 0;
  const bool all_listed = habit.listed.count() == shape_.words;
  bool for_no_reason = false;  // words are listed that neither changed nor are about to
  for (uint32_t word = 0; word < shape_.words; ++word) {
    const bool same = before.word(word, shape_) == habit.state.word(word, shape_);
    changes += !same;
    surprises += !same && !habit.listed[word];
    for_no_reason |= same && (all_listed || !habit.listed[word]);
  }
  // Another recorder may list a word now and then that stays the same.
  if (habit.repeats && surprises == 0) {
    // A block behind a switch of threads lists nearly everything. Where the program goes on
    // elsewhere and much is different, that was for the switch alone.
    const bool regular = from.full && count_ - from.seq == kFullDumpEvery;
    const bool much = changes >= kSurprisesMin && dump.tid == before.tid;
    return !regular && much && !follows(file, dump) ? Joint::Breaks : Joint::Fits;
  }
  if (habit.repeats && (!habit.unannounced || surprises >= kSurprisesMin)) return Joint::Breaks;
  // A loop that changes the same words over and over looks the same in either style; but then no
  // instruction of it changes as many others.
  const bool announces = habit.news >= kNewsMin && !habit.unannounced;
  if (announces && surprises >= kSurprisesMin) return Joint::Breaks;
  // Too few blocks to know the style. An exception goes elsewhere, too, but changes little.
  const bool elsewhere = for_no_reason && changes >= kSurprisesMin && !follows(file, dump);
  return elsewhere && (dump.tid == before.tid || !was_here) ? Joint::Breaks : Joint::Unsure;
}

std::optional<uint64_t> Scan::sessions_told_from() const {
  for (const Keyframe& one : keyframes_)
    if (one.joint >= Joint::Begins) return one.seq;
  return std::nullopt;
}

/// By a block of ours in front of the dump.
std::optional<Joint> Scan::told_joint(Bytes file, uint64_t dump) const {
  Block block;
  for (uint64_t at = lead_; at < dump; at += block.size) {
    if (read_block(file, at, shape_, false, block) != Reading::Whole) return std::nullopt;
    const auto own = read_own_block(block.type, block.user_data);
    if (own && own->kind == OwnKind::Dump && !own->data.empty() && own->data[0] <= 1)
      return own->data[0] == 1 ? Joint::Begins : Joint::Goes;
  }
  return std::nullopt;
}

/// Words are only compared where it may matter: that takes longer than everything else here.
Joint Scan::joint(Bytes file, const Block& dump) const {
  if (const auto told = told_joint(file, dump.offset)) return *told;
  if (keyframes_.empty()) return Joint::Unsure;
  const Keyframe& last = keyframes_.back();
  const bool regular = last.full && count_ - last.seq == kFullDumpEvery;
  if (regular && follows(file, dump)) return Joint::Fits;
  return compare_words(file, dump);
}

/// Is a flagged dump, with nothing missing in front of it, the beginning of a session? `base` is
/// that of the one so far; `flushes` becomes true where it must be an exception's.
bool Scan::is_session(size_t keyframe, uint64_t base, bool& flushes) const {
  const Keyframe& one = keyframes_[keyframe];
  // What comes with an exception is not announced, so that there words say nothing.
  const bool breaks = one.joint == Joint::Breaks && !flushes;
  const uint64_t distance = (one.seq - base) % kFullDumpEvery;
  if (distance == 0) return breaks;
  const auto full_at = [this](uint64_t seq) {
    const Keyframe* there = keyframe_at(seq);
    return seq < count_ && there->seq == seq && there->full;
  };
  const uint64_t due = one.seq + kFullDumpEvery - distance;
  if (full_at(due)) {
    flushes = true;
    return false;
  }
  const auto missing = std::upper_bound(gaps_.begin(), gaps_.end(), one.offset,
                                        [](uint64_t at, const Gap& gap) { return at < gap.to; });
  if (due >= count_ || (missing != gaps_.end() && missing->seq <= due)) return breaks;
  // The old rhythm has ended. It is not this dump that ended it if another one is in between, which
  // does not go on with a rhythm of this one.
  const bool last_before_due = keyframe + 1 == keyframes_.size() ||
                               keyframes_[keyframe + 1].seq > due ||
                               !keyframes_[keyframe + 1].full;
  return last_before_due || full_at(one.seq + kFullDumpEvery) || one.joint != Joint::Fits;
}

void Scan::find_sessions() {
  sessions_.clear();
  if (keyframes_.empty()) return;
  sessions_.push_back(0);
  uint64_t base = 0;
  size_t gap = 0;
  bool flushes = false;
  bool ours = keyframes_[0].joint >= Joint::Begins;
  for (size_t i = 1; i < keyframes_.size(); ++i) {
    const Keyframe& one = keyframes_[i];
    if (!one.full) continue;
    // Behind blocks of ours, a dump that none stands in front of was written by somebody else.
    const bool told = one.joint >= Joint::Begins;
    const bool others = std::exchange(ours, told) && !told;
    while (gap < gaps_.size() && gaps_[gap].to < one.lead) ++gap;
    const bool new_start = gap < gaps_.size() && gaps_[gap].to == one.lead;
    const bool begins = one.joint == Joint::Begins || others;
    if (one.joint == Joint::Goes && !new_start) continue;
    if (!begins && !new_start && (!one.flagged || !is_session(i, base, flushes))) continue;
    if (begins || !new_start) sessions_.push_back(one.seq);
    base = one.seq;  // behind a gap: how many are missing is not known
    flushes = false;
  }
}

void Scan::find_stretches() {
  stretches_ = sessions_;
  for (const Gap& one : gaps_)
    if (one.seq < count_) stretches_.push_back(one.seq);
  std::ranges::sort(stretches_);
  const auto twice = std::ranges::unique(stretches_);
  stretches_.erase(twice.begin(), twice.end());
}

}  // namespace tracewell::formats::trace64
