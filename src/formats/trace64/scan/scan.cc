#include "formats/trace64/scan/scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "formats/steps/missing_steps.h"
#include "formats/trace64/blocks/user.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr uint64_t kProgressBytes = 16 << 20;
constexpr uint64_t kLookBackBytes = 24 << 10;  // for a full dump that broken blocks have run over
constexpr size_t kWhyBytesMax = 256;
constexpr uint64_t kOwnBlocksBytes = 256 << 10;  // of user blocks in front of a full dump
constexpr uint64_t kPageBytes = 4096;
// Less at the end of the file are steps, wherever its last page begins: 15 in a row.
constexpr uint64_t kTailBytesMin = 64;
constexpr std::string_view kNeverWritten = "the rest of the file was never written";
constexpr size_t kThreadsMax = 1 << 16;       // counted; told where there is one more
constexpr size_t kToldMax = 4096;             // told again beyond
// How near to the end rewind() goes back to: in front of all that looking ahead reaches.
constexpr uint64_t kResumeBytes = 256 << 10;
constexpr uint64_t kResumeWithinBytes = 16 << 20;

std::string what_is_unusual(const Block& block) {
  return block.opcode.empty() ? "an opcode of no bytes"
                              : fmt::format("{} memory entries", block.memory_count);
}

bool all_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

void WordState::apply(const Block& block, const Shape& shape) {
  if (block.has_tid) tid = block.tid;
  if (block.is_full(shape)) {  // its positions are all zero, or read_block() had refused it
    std::memcpy(dump.data(), block.values, shape.dump_bytes());
    valid |= ~std::bitset<kWordsMax>() >> (kWordsMax - shape.words);
    return;
  }
  uint32_t at = 0;
  for (uint32_t i = 0; i < block.register_count; ++i, ++at) {
    at += block.positions[i];
    if (at >= shape.words) return;  // somebody has changed the file
    std::memcpy(dump.data() + at * shape.word, block.values + i * shape.word, shape.word);
    valid.set(at);
  }
}

bool Scan::is_hidden(uint64_t offset) const {
  return std::binary_search(hidden_.begin(), hidden_.end(), offset);
}

uint64_t Scan::plain_to(uint64_t offset) const {
  uint64_t to = at_;
  const auto id = std::lower_bound(hidden_.begin(), hidden_.end(), offset);
  if (id != hidden_.end()) to = std::min(to, *id);
  const auto gap = std::lower_bound(gaps_.begin(), gaps_.end(), offset,
                                    [](const Gap& one, uint64_t at) { return one.from < at; });
  return gap == gaps_.end() ? to : std::min(to, gap->from);
}

const Keyframe* Scan::keyframe_at(uint64_t seq) const {
  // In a regular file it is the place that its number says; a search all over a long table would
  // wait for memory at every turn.
  const uint64_t due = seq / kFullDumpEvery;
  if (due < keyframes_.size() && keyframes_[due].seq <= seq &&
      (due + 1 == keyframes_.size() || seq < keyframes_[due + 1].seq))
    return &keyframes_[due];
  const auto at = std::upper_bound(keyframes_.begin(), keyframes_.end(), seq,
                                   [](uint64_t s, const Keyframe& k) { return s < k.seq; });
  return at == keyframes_.begin() ? nullptr : &at[-1];
}

uint64_t Scan::session_of(uint64_t seq) const {
  const auto next = std::upper_bound(sessions_.begin(), sessions_.end(), seq);
  return next == sessions_.begin() ? 0 : next[-1];
}

const WordState& Scan::state_at(const Keyframe& keyframe) const {
  static const WordState kNothing;
  return keyframe.checkpoint == 0 ? kNothing : checkpoints_[keyframe.checkpoint - 1];
}

void Scan::tell(uint64_t offset, Problem::Severity severity, std::string code, std::string text) {
  const std::pair<uint64_t, std::string> one(offset, code);
  if (open_ && told_.size() < kToldMax) told_.push_back(one);
  if (std::ranges::find(told_before_, one) != told_before_.end()) return;
  if (problems_) problems_->add({offset, severity, std::move(code), std::move(text)});
}

void Scan::seen(uint32_t tid) {
  const auto at = std::lower_bound(threads_.begin(), threads_.end(), tid);
  if ((at != threads_.end() && *at == tid) || threads_.size() > kThreadsMax) return;
  threads_.insert(at, tid);
  if (threads_.size() > kThreadsMax)
    tell(at_, Problem::Severity::Note, "many-threads",
         fmt::format("the trace has more than {} threads, which are not counted from here on",
                     kThreadsMax));
}

void Scan::extend(Bytes file, ProblemLog* problems,
                  const std::function<void(uint64_t)>& progress) {
  problems_ = problems;
  told_before_ = std::exchange(told_, {});
  if (open_) go_back_to(Resume(*open_));
  uint64_t told = at_;
  while (at_ < file.size()) {
    if (!step(file)) break;
    count_plain_blocks(file);
    if (progress && at_ - told >= kProgressBytes) {
      told = at_;
      progress(at_);
    }
  }
  const size_t told_of_steps = told_.size();
  tell_end(file);
  told_.resize(told_of_steps);
  if (without_pc_ != 0)
    tell(blocks_at_, Problem::Severity::Warning, "no-program-counter",
         fmt::format("the first {} steps do not tell where they are: the address 0 that is shown "
                     "stands for one that is not known",
                     without_pc_));
  find_sessions();
  find_stretches();
  keyframe_steps_.clear();
  for (const Keyframe& one : keyframes_) keyframe_steps_.push_back(one.seq);
  problems_ = nullptr;
}

bool Scan::step(Bytes file) {
  Block& block = block_;
  const uint8_t* const head = file.data() + at_;
  const bool flagged = file.size() - at_ >= 4 && (head[3] & kThreadFlag) != 0;
  if (const auto goes_on = pass_zeros(file)) return *goes_on;
  HiddenTid id = HiddenTid::No;
  bool met_end = false;
  if (head[0] == 0 && !flagged && file.size() - at_ >= 8 &&
      (after_flagged_ || head[1] == shape_.words))
    id = ids_.find(file, {at_, tid_, announced_, !hidden_.empty()}, met_end);
  const bool hidden = id == HiddenTid::Yes;
  const Reading reading = read_block(file, at_, shape_, hidden, block);
  end_reading_ = reading;
  const bool unusual = reading == Reading::Whole && is_unusual(block);
  const bool good = reading == Reading::Whole &&
                    (!unusual || goes_on_behind_unusual(file, at_ + block.size, shape_, met_end));
  if (met_end) leave_open();
  if (good) {
    if (block.is_user()) return user_block(file, block);
    if (unusual) tell_unusual(block);
    if (id == HiddenTid::Unclear)
      tell(at_, Problem::Severity::Note, "thread-id-unclear",
           fmt::format("step {} may have the id of a thread though its flag says that there is "
                       "none; read as it is written",
                       count_));
    if (hidden) {
      hidden_.push_back(at_);
      tell(at_, Problem::Severity::Warning, "hidden-thread-id",
           fmt::format("step {} has the id of thread {} though its flag says that there is none; "
                       "put right",
                       count_, block.tid));
    }
    count_block(file, block);
    return true;
  }
  const std::string why = unusual ? what_is_unusual(block)
                          : reading == Reading::Bad
                              ? why_bad(file, at_, shape_, hidden)
                              : "a block would reach beyond the end of the file";
  if (all_zero(file.subspan(at_))) {
    end_why_ = "";
    return false;
  }
  return recover(file, why);
}

/// Zeros are steps that tell nothing, and have no opcode. But a whole page of the file that is zero
/// was never written, and the last page is whole where the file ends. nullopt: there is none here;
/// false: the file ends with it.
std::optional<bool> Scan::pass_zeros(Bytes file) {
  if (at_ < zeros_to_ || file.size() - at_ < kBlockBytesMin ||
      load_uint(file.data() + at_, kBlockBytesMin, Endian::Little) != 0)
    return std::nullopt;
  uint64_t from = at_, to = at_;
  const uint64_t least = lead_ == at_ ? blocks_at_ : at_;  // not into a user block
  while (from > least && at_ - from < kPageBytes && file[from - 1] == 0) --from;
  while (to < file.size() && file[to] == 0) ++to;
  const uint64_t page = (from + kPageBytes - 1) / kPageBytes * kPageBytes;
  const bool whole = to >= page && to - page >= kPageBytes;
  const bool tail = to == file.size() && page < to && to - at_ >= kTailBytesMin;
  if (!whole && !tail) {
    // Behind them it has to go on, or they are damage as well.
    const uint64_t behind = at_ + (to - at_) / kBlockBytesMin * kBlockBytesMin;
    bool met_end = false;
    if (!goes_on_behind_unusual(file, behind, shape_, met_end))
      return recover(file, "an opcode of no bytes");
    zeros_to_ = to;
    if (met_end) leave_open();
    return std::nullopt;
  }
  if (to == file.size()) {
    end_why_ = "";
    if (!whole) leave_open();  // with more behind them, they are steps
    drop_half_written(file);
    return false;
  }
  std::string why = fmt::format(
      "{} bytes are zero, a page of the file and more, which were never written", to - at_);
  drop_half_written(file);
  return recover(file, std::move(why), true);
}

void Scan::tell_unusual(const Block& block) {
  tell(at_, Problem::Severity::Note, block.opcode.empty() ? "no-opcode" : "many-accesses",
       fmt::format("step {} has {}; x64dbg opens no such file", count_, what_is_unusual(block)));
}

/// In front of zeros that were never written, a block that ends in zeros may lack its end.
void Scan::drop_half_written(Bytes file) {
  if (last_at_ == 0 || !all_zero(file.subspan(at_ - shape_.word, shape_.word))) return;
  tell(last_at_, Problem::Severity::Damage, "block-cut",
       fmt::format("step {} may have been written in part: it ends in zeros that the file goes on "
                   "with; left out",
                   count_ - 1));
  drop_from(file, at_ - 1);
}

/// With x64dbg, an id that is neither new nor in a full dump is there because the thread is about
/// to change. The block is that of step `seq`, and tid_ of the one before.
bool Scan::announces(const Block& block, uint64_t seq) const {
  return block.is_flagged() && !block.is_full(shape_) && seq > 0 && block.tid == tid_;
}

void Scan::count_block(Bytes file, const Block& block) {
  const uint32_t tid_before = tid_;
  if (block.has_tid && (block.tid != tid_ || threads_.empty())) seen(block.tid);
  announced_ = announces(block, count_);
  if (block.has_tid) tid_ = block.tid;
  after_flagged_ = block.is_flagged();
  const size_t keyframes = keyframes_.size();
  if (block.is_full(shape_)) {
    keyframes_.push_back(
        {count_, block.offset, tid_before, true, block.is_flagged(), 0, joint(file, block)});
    if (may_begin_at(keyframes_.size() - 1)) bases_.may_begin(count_);
  } else if (keyframes_.empty()) {
    keyframes_.push_back({count_, block.offset, tid_before, false, block.is_flagged(), 0});
  } else if (count_ - keyframes_.back().seq >= kCheckpointEvery) {
    add_checkpoint(file, block);
  }
  if (keyframes_.size() > keyframes) {
    keyframes_.back().lead = lead_;
    keyframes_.back().listed = !user_blocks_.empty() && user_blocks_.back().offset >= lead_;
  }
  if (without_pc_ == count_ && !lists_word(block, shape_.pc_word)) ++without_pc_;
  if (odd_at_ == 0 && has_odd_flags(block)) odd_at_ = block.offset;
  bases_.look_at(block, count_, tid_);
  ++count_;
  last_at_ = at_;
  lead_ = at_ += block.size;
  if (block.is_full(shape_)) may_resume_here(file);
}

/// What count_block() does with blocks that are nothing but a step behind the last one, for many.
void Scan::count_plain_blocks(Bytes file) {
  if (after_flagged_ || keyframes_.empty() || without_pc_ == count_) return;
  if (file.size() - at_ < kBlockBytesMax) return;
  const uint64_t to = std::min(file.size() - kBlockBytesMax, at_ + kProgressBytes);
  const uint64_t count_to = keyframes_.back().seq + kCheckpointEvery;
  uint64_t at = at_, last = at_, count = count_;
  while (at <= to && count < count_to) {
    const uint8_t* const start = file.data() + at;
    const uint64_t size = plain_block_size(start, shape_);
    if (size == 0 || bases_.may_show(start[4])) break;
    last = at;
    at += size;
    ++count;
  }
  if (count == count_) return;
  announced_ = false;
  last_at_ = last;
  lead_ = at_ = at;
  count_ = count;
}

/// Behind a full dump, whose flag announces nothing.
void Scan::may_resume_here(Bytes file) {
  const uint64_t left = file.size() - at_;
  if (problems_ == nullptr || open_ || left < kResumeBytes || left > kResumeWithinBytes) return;
  if (resume_ && at_ - resume_->at < kResumeBytes) return;
  resume_ = here();
}

Scan::Resume Scan::here() const {
  return {at_,   count_,    tid_,     after_flagged_, announced_, last_at_,
          lead_, left_out_, threads_, problems_ ? *problems_ : ProblemLog()};
}

void Scan::leave_open() {
  if (!open_) open_ = here();
}

bool Scan::rewind(ProblemLog& problems) {
  if (!resume_) return false;
  problems = resume_->problems;
  go_back_to(*resume_);
  return true;
}

void Scan::go_back_to(const Resume& place) {
  at_ = place.at;
  count_ = place.count;
  tid_ = place.tid;
  after_flagged_ = place.after_flagged;
  announced_ = place.announced;
  last_at_ = place.last_at;
  lead_ = place.lead;
  threads_ = place.threads;
  left_out_ = place.left_out;
  end_why_.clear();
  forget_from(at_);
  while (!gaps_.empty() && gaps_.back().to > at_) gaps_.pop_back();
  open_.reset();
}

/// May a session begin with this keyframe? (find_sessions() looks closer.)
bool Scan::may_begin_at(size_t keyframe) const {
  const Keyframe& one = keyframes_[keyframe];
  return one.full && (keyframe == 0 || one.joint == Joint::Breaks ||
                      one.joint == Joint::Begins ||
                      one.seq - keyframes_[keyframe - 1].seq != kFullDumpEvery);
}

/// Many blocks without a full dump: adds up what they told.
void Scan::add_checkpoint(Bytes file, const Block& block) {
  const Keyframe& from = keyframes_.back();
  WordState state = state_at(from);
  state.tid = from.tid_before;
  Block one;
  for (uint64_t at = from.offset; at < block.offset; at += one.size) {
    if (read_block(file, at, shape_, is_hidden(at), one) != Reading::Whole) return;
    if (!one.is_user()) state.apply(one, shape_);
  }
  checkpoints_.push_back(state);
  keyframes_.push_back({count_, block.offset, state.tid, false, block.is_flagged(),
                        static_cast<uint32_t>(checkpoints_.size())});
}

/// A block that readers may skip. Where it is damage that looks like one, its size is any number;
/// so look at what is behind it. Ours does not look like damage: it has a signature.
bool Scan::user_block(Bytes file, const Block& block) {
  const uint64_t next = block.offset + block.size;
  const auto own = read_own_block(block.type, block.user_data);
  if (!own && next < file.size() && file[next] < kUserBlockMin) {
    Block behind;
    const Reading plain = read_block(file, next, shape_, false, behind);
    const bool fits = plain == Reading::Cut ||
                      (plain == Reading::Whole &&
                       ((is_plausible(behind, shape_) && !is_unusual(behind)) ||
                        goes_on(file, next, shape_))) ||
                      read_block(file, next, shape_, true, behind) == Reading::Whole ||
                      all_zero(file.subspan(next, std::min<uint64_t>(64, file.size() - next)));
    if (!fits) return recover(file, "what follows a user block makes no sense");
  }
  at_ = next;
  if (std::string what = unknown_own_block(block.type, block.user_data); !what.empty())
    tell(block.offset, Problem::Severity::Warning, "user-block-version", std::move(what));
  if (own && own->kind == OwnKind::Missing) {
    std::string why(as_text(own->data.first(std::min(own->data.size(), kWhyBytesMax))));
    std::string_view text = why;
    const uint64_t missing = take_missing_count(text);
    if (problems_) problems_->add(missing_steps(block.offset, missing, count_, text));
    gaps_.push_back({block.offset, next, count_, std::move(why), true, false});
    lead_ = next;
    return true;
  }
  if (list_user_block(count_, block) && !keyframes_.empty()) keyframes_.back().listed = true;
  return true;
}

/// Where it is to be kept; true if so.
bool Scan::list_user_block(uint64_t seq, const Block& block) {
  const auto own = read_own_block(block.type, block.user_data);
  if (own && own->kind == OwnKind::Unknown) has_unknown_ = true;
  if (own && is_found_in_front(own->kind)) return false;
  const uint64_t cost = block.user_data.size() + kUserBlockCost;
  if (user_cost_ + cost > kUserBytesMax) {
    ++left_out_.count;
    left_out_.bytes += block.user_data.size();
    return false;
  }
  user_cost_ += cost;
  user_blocks_.push_back({seq, block.offset, block.type, block.user_data.size()});
  return true;
}

/// Once more those from a keyframe's lead to offset `to`.
void Scan::list_user_blocks(Bytes file, const Keyframe& from, uint64_t to) {
  Block block;
  uint64_t at = from.lead, seq = from.seq;
  while (at < to) {
    const auto gap = std::lower_bound(gaps_.begin(), gaps_.end(), at,
                                      [](const Gap& one, uint64_t o) { return one.from < o; });
    if (gap != gaps_.end() && gap->from == at) {
      at = gap->to;
      continue;
    }
    if (read_block(file, at, shape_, is_hidden(at), block) != Reading::Whole) return;
    if (block.is_user())
      list_user_block(seq, block);
    else
      ++seq;
    at += block.size;
  }
}

/// Of the blocks between these offsets, which follow each other.
void Scan::forget_left_out(Bytes file, uint64_t from, uint64_t to) {
  if (left_out_.count == 0) return;
  Block block;
  for (uint64_t at = from; at < to; at += block.size) {
    if (read_block(file, at, shape_, is_hidden(at), block) != Reading::Whole) return;
    if (!block.is_user()) continue;
    const auto own = read_own_block(block.type, block.user_data);
    if (own && (is_found_in_front(own->kind) || own->kind == OwnKind::Missing)) continue;
    if (std::ranges::binary_search(user_blocks_, at, {}, &UserBlock::offset)) continue;
    --left_out_.count;
    left_out_.bytes -= block.user_data.size();
  }
}

bool Scan::recover(Bytes file, std::string why, bool zeros) {
  // The damage may be older than this: blocks that are off by a few bytes can look sound for a
  // while, and run over a full dump.
  uint64_t from = std::max(blocks_at_, at_ > kLookBackBytes ? at_ - kLookBackBytes : 0);
  if (!keyframes_.empty()) from = std::max(from, keyframes_.back().offset + 1);
  if (!gaps_.empty()) from = std::max(from, gaps_.back().to + 1);
  from = std::min(from, at_ + 1);
  const auto found = find_full_dump(file, from, shape_);
  if (!found) {
    end_why_ = std::move(why);
    return false;
  }
  const uint64_t broken_at = at_;
  const uint64_t doubt = where_doubt_begins(file);
  const uint64_t lead = own_blocks_in_front_of(file, *found, from);
  if (std::min(lead, doubt) < at_) drop_from(file, std::min(lead, doubt));
  const uint64_t to = lead > at_ ? lead : *found;
  if (to <= at_) {  // somebody has changed the file: what was broken here is none any more
    end_why_ = std::move(why);
    return false;
  }
  tell(broken_at, Problem::Severity::Damage, "broken-block",
       fmt::format("{}; {} bytes skipped to the next full dump, step {}", why, to - at_, count_));
  gaps_.push_back({at_, to, count_, std::move(why), false, zeros});
  lead_ = at_ = to;
  ids_.forget();
  last_at_ = 0;
  after_flagged_ = announced_ = false;
  return true;
}

/// Where blocks of ours begin that stand right in front of a full dump, and not before `from`; the
/// dump's own offset: there are none.
uint64_t Scan::own_blocks_in_front_of(Bytes file, uint64_t dump, uint64_t from) const {
  constexpr uint64_t kHead = 5;  // of a user block
  from = std::max(from, dump > kOwnBlocksBytes ? dump - kOwnBlocksBytes : 0);
  if (dump - from < kHead) return dump;
  const std::string_view text = as_text(file.subspan(from + kHead, dump - from - kHead));
  std::vector<uint64_t> starts;
  for (size_t at = 0; (at = text.find(kOwnSignature, at)) != text.npos; ++at)
    starts.push_back(from + at);
  uint64_t begin = dump;
  // The last one first: whose block does not end where the next one begins is none.
  for (auto start = starts.rbegin(); start != starts.rend(); ++start) {
    Block block;
    const bool whole = read_block(file, *start, shape_, false, block) == Reading::Whole;
    if (whole && block.is_user() && *start + block.size == begin &&
        read_own_block(block.type, block.user_data))
      begin = *start;
  }
  return begin;
}

/// Blocks in front of the damage that no recorder would write are damage themselves.
uint64_t Scan::where_doubt_begins(Bytes file) const {
  uint64_t at = blocks_at_;
  if (!keyframes_.empty()) at = keyframes_.back().offset;
  if (!gaps_.empty()) at = std::max(at, gaps_.back().to);
  uint64_t doubt = at_;
  Block block;
  while (at < at_ && read_block(file, at, shape_, is_hidden(at), block) == Reading::Whole) {
    if (is_plausible(block, shape_) && !is_unusual(block))
      doubt = at_;
    else if (doubt == at_)
      doubt = at;
    at += block.size;
  }
  return doubt;
}

/// Forgets blocks that reach beyond `offset`, at which a block begins that they are not. Steps are
/// counted anew from the last keyframe: none is in front of the first one, nor between a gap and
/// the keyframe behind it, whatever else can be read there.
void Scan::drop_from(Bytes file, uint64_t offset) {
  uint64_t at = blocks_at_, seq = 0;
  tid_ = 0;
  bool counts = !keyframes_.empty();
  if (counts) {
    const Keyframe& last = keyframes_.back();
    at = last.offset, seq = last.seq, tid_ = last.tid_before, lead_ = last.lead;
  } else {
    lead_ = at;
  }
  if (!gaps_.empty() && gaps_.back().to > at) {
    lead_ = at = gaps_.back().to;
    seq = gaps_.back().seq;
    counts = false;
  }
  after_flagged_ = announced_ = false;
  Block block;
  while (at < offset && read_block(file, at, shape_, is_hidden(at), block) == Reading::Whole &&
         at + block.size <= offset && (counts || block.is_user())) {
    at += block.size;
    if (block.is_user()) continue;
    lead_ = at;
    after_flagged_ = block.is_flagged();
    announced_ = announces(block, seq);
    ++seq;
    if (block.has_tid) tid_ = block.tid;
  }
  forget_left_out(file, at, at_);
  at_ = at;
  last_at_ = 0;
  count_ = seq;
  forget_from(at);
  if (resume_ && resume_->at > at) resume_.reset();
  if (open_ && open_->at > at) open_ = here();
}

void Scan::forget_from(uint64_t offset) {
  ids_.forget();
  zeros_to_ = 0;
  without_pc_ = std::min(without_pc_, count_);
  if (odd_at_ >= offset) odd_at_ = 0;
  bases_.drop_from(count_);
  while (!keyframes_.empty() && keyframes_.back().offset >= offset) keyframes_.pop_back();
  while (!hidden_.empty() && hidden_.back() >= offset) hidden_.pop_back();
  while (!user_blocks_.empty() && user_blocks_.back().offset >= offset) {
    user_cost_ -= user_blocks_.back().size + kUserBlockCost;
    user_blocks_.pop_back();
  }
  if (keyframes_.empty()) return;
  Keyframe& last = keyframes_.back();
  last.listed = !user_blocks_.empty() && user_blocks_.back().offset >= last.lead;
}

bool Scan::ends_in_zeros(Bytes file) const {
  return lost_end_ == kNeverWritten && file.size() - at_ >= kBlockBytesMin;
}

void Scan::tell_end(Bytes file) {
  lost_end_.clear();
  if (at_ == file.size()) {
    end_why_.clear();
    return;
  }
  const uint64_t left = file.size() - at_;
  if (end_why_.empty()) {
    lost_end_ = kNeverWritten;
    tell(at_, Problem::Severity::Warning, "zero-tail",
         fmt::format("the last {} bytes are zero: they were never written", left));
  } else if (end_reading_ == Reading::Cut && left > kBlockBytesMax) {
    lost_end_ = "a block that would reach beyond the end of the file";
    tell(at_, Problem::Severity::Damage, "block-cut",
         fmt::format("the block here would reach beyond the end of the file, and there is no full "
                     "dump behind it; the last {} bytes are left out",
                     left));
  } else if (end_reading_ == Reading::Cut) {
    lost_end_ = "the file ends inside a block";
    tell(at_, Problem::Severity::Damage, "block-cut",
         fmt::format("the file ends inside a block; its last {} bytes are left out", left));
  } else {
    lost_end_ = end_why_;
    tell(at_, Problem::Severity::Damage, "broken-block",
         fmt::format("{}; there is no full dump behind it, the last {} bytes are left out",
                     end_why_, left));
  }
}

}  // namespace tracewell::formats::trace64
