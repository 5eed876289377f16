// The bytes: magic, version · u8 1 if x64 · then varints, and lists as their count and their items.
// Ascending numbers are stored as the distance from the one before.
#include "formats/trace64/scan/notes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace tracewell::formats::trace64 {
namespace {

constexpr std::string_view kNotesMagic = "T64N7";

}  // namespace

class NotesWriter {
 public:
  void number(uint64_t value) { append_varint(out_, value); }
  void raw(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void text(std::string_view text) {
    number(text.size());
    raw(as_bytes(text));
  }
  template <class Value>
  void ascending(const std::vector<Value>& values) {
    number(values.size());
    Value last = 0;
    for (const Value value : values) number(value - std::exchange(last, value));
  }
  void log(const ProblemLog& log) {
    number(log.kept().size());
    for (const Problem& one : log.kept()) {
      number(static_cast<uint64_t>(one.severity) << 1 | (one.offset ? 1 : 0));
      if (one.offset) number(*one.offset);
      text(one.code);
      text(one.text);
    }
    const auto beyond = log.beyond();
    number(beyond.size());
    for (const ProblemLog::Beyond& one : beyond) {
      text(one.code);
      number(static_cast<uint64_t>(one.severity));
      number(one.count);
    }
  }
  std::vector<uint8_t> take() { return std::move(out_); }

 private:
  std::vector<uint8_t> out_;
};

namespace {

/// How many items a list has, each of which takes a byte at least.
bool read_count(Cursor& in, uint64_t& count) {
  count = in.varint();
  return !in.bad() && count <= in.left();
}

std::string read_text(Cursor& in) { return std::string(as_text(in.take(in.varint()))); }

/// Strictly ascending numbers less than `limit`; 0 may be the first.
template <class Value>
bool read_ascending(Cursor& in, uint64_t limit, std::vector<Value>& out) {
  uint64_t count;
  if (!read_count(in, count)) return false;
  out.reserve(count);
  uint64_t last = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t distance = in.varint();
    if (in.bad() || (i != 0 && distance == 0) || distance >= limit - last) return false;
    out.push_back(static_cast<Value>(last += distance));
  }
  return true;
}

bool read_severity(uint64_t value, Problem::Severity& severity) {
  severity = static_cast<Problem::Severity>(value);
  return value <= static_cast<uint64_t>(Problem::Severity::Damage);
}

/// Codes are words of ours, and there are few: who wrote others wrote these notes by hand.
class Codes {
 public:
  bool take(Cursor& in, std::string& out) {
    const auto is_of_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    const uint64_t size = in.varint();
    if (size == 0 || size > kCodeBytesMax) return false;
    out = as_text(in.take(size));
    if (in.bad() || !std::ranges::all_of(out, is_of_word)) return false;
    seen_.insert(out);
    return seen_.size() <= kCodesMax;
  }

 private:
  static constexpr size_t kCodeBytesMax = 40, kCodesMax = 64;
  std::set<std::string> seen_;
};

bool read_log(Cursor& in, ProblemLog& log) {
  uint64_t count;
  Codes codes;
  if (!read_count(in, count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    Problem one;
    const uint64_t head = in.varint();
    if (!read_severity(head >> 1, one.severity)) return false;
    if ((head & 1) != 0) one.offset = in.varint();
    if (!codes.take(in, one.code)) return false;
    one.text = read_text(in);
    if (in.bad()) return false;
    log.add(std::move(one));
  }
  if (!read_count(in, count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    ProblemLog::Beyond one;
    if (!codes.take(in, one.code)) return false;
    if (!read_severity(in.varint(), one.severity)) return false;
    one.count = in.varint();
    if (in.bad()) return false;
    log.add_beyond(one);
  }
  return true;
}

// Of a keyframe.
constexpr uint32_t kFull = 1, kFlagged = 2, kFromCheckpoint = 4, kOtherThread = 8, kListed = 16,
                   kLed = 32, kJointShift = 6;

void write_keyframes(NotesWriter& out, const std::vector<Keyframe>& keyframes) {
  out.number(keyframes.size());
  Keyframe last;
  for (const Keyframe& one : keyframes) {
    const bool other = one.tid_before != last.tid_before;
    out.number((one.full ? kFull : 0) | (one.flagged ? kFlagged : 0) |
               (one.checkpoint != 0 ? kFromCheckpoint : 0) | (other ? kOtherThread : 0) |
               (one.listed ? kListed : 0) | (one.lead != one.offset ? kLed : 0) |
               static_cast<uint32_t>(one.joint) << kJointShift);
    out.number(one.seq - last.seq);
    out.number(one.offset - last.offset);
    if (one.checkpoint != 0) out.number(one.checkpoint);
    if (other) out.number(one.tid_before);
    if (one.lead != one.offset) out.number(one.offset - one.lead);
    last = one;
  }
}

}  // namespace

void Notes::write_resume(NotesWriter& out, const Scan::Resume& resume) {
  for (const uint64_t value :
       {resume.at, resume.count, uint64_t{resume.tid}, uint64_t{resume.after_flagged},
        uint64_t{resume.announced}, resume.at - resume.last_at, resume.at - resume.lead,
        resume.left_out.count, resume.left_out.bytes})
    out.number(value);
  out.ascending(resume.threads);
  out.log(resume.problems);
}

std::vector<uint8_t> Notes::write(const Contents& contents) {
  const Scan& scan = contents.scan;
  NotesWriter out;
  out.raw(as_bytes(kNotesMagic));
  for (const uint64_t value :
       {uint64_t{scan.shape_.wide}, scan.blocks_at_, scan.at_, scan.count_, uint64_t{scan.tid_},
        uint64_t{scan.after_flagged_}, uint64_t{scan.announced_}, uint64_t{scan.has_unknown_},
        scan.left_out_.count, scan.left_out_.bytes, scan.without_pc_, scan.odd_at_})
    out.number(value);
  out.text(scan.lost_end_);
  write_keyframes(out, scan.keyframes_);
  out.number(scan.checkpoints_.size());
  for (const WordState& one : scan.checkpoints_) {
    out.number(one.tid);
    out.raw(Bytes(one.dump).first(scan.shape_.dump_bytes()));
    for (uint32_t word = 0; word < scan.shape_.words; word += 8) {
      uint8_t bits = 0;
      for (uint32_t i = 0; i < 8 && word + i < scan.shape_.words; ++i)
        bits |= static_cast<uint8_t>(one.valid[word + i] << i);
      out.raw({&bits, 1});
    }
  }
  out.ascending(scan.sessions_);
  out.number(scan.gaps_.size());
  for (const Gap& one : scan.gaps_) {
    for (const uint64_t value :
         {one.from, one.to, one.seq, uint64_t{one.told} | uint64_t{one.zeros} << 1})
      out.number(value);
    out.text(one.why);
  }
  out.ascending(scan.hidden_);
  out.ascending(scan.threads_);
  out.number(scan.bases_.given_up() ? 1 : 0);
  out.number(scan.bases_.shown().size());
  for (const auto& [tid, list] : scan.bases_.shown()) {
    out.number(tid);
    out.number(list.size());
    for (const SegmentBases::Shown& one : list) {
      out.number(one.seq);
      out.number(one.base);
    }
  }
  const Generation& generation = contents.generation;
  for (const bool one : {generation.both_entries, generation.leave_entries, generation.leave_bare,
                         generation.minimal, scan.resume_.has_value(), scan.open_.has_value()})
    out.number(one ? 1 : 0);
  out.number(generation.push_old.size());
  for (const PushOld one : generation.push_old) out.number(static_cast<uint64_t>(one));
  if (scan.resume_) write_resume(out, *scan.resume_);
  if (scan.open_) write_resume(out, *scan.open_);
  out.log(contents.problems);
  return out.take();
}

bool Notes::read_places(Cursor& in, uint64_t file_bytes, Scan& scan) {
  const bool wide = in.varint() != 0;
  const uint64_t blocks_at = in.varint();
  if (wide != scan.shape_.wide || blocks_at != scan.blocks_at_) return false;
  scan.at_ = in.varint();
  scan.count_ = in.varint();
  scan.tid_ = static_cast<uint32_t>(in.varint());
  scan.after_flagged_ = in.varint() != 0;
  scan.announced_ = in.varint() != 0;
  scan.has_unknown_ = in.varint() != 0;
  scan.left_out_.count = in.varint();
  scan.left_out_.bytes = in.varint();
  scan.without_pc_ = in.varint();
  scan.odd_at_ = in.varint();
  scan.lost_end_ = read_text(in);
  if (in.bad() || scan.at_ < blocks_at || scan.at_ > file_bytes) return false;
  return scan.count_ <= (scan.at_ - blocks_at) / kBlockBytesMin;
}

bool Notes::read_keyframes(Cursor& in, Scan& scan) {
  uint64_t count;
  if (!read_count(in, count) || (count == 0) != (scan.count_ == 0)) return false;
  scan.keyframes_.reserve(count);
  Keyframe one;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t bits = in.varint(), steps = in.varint(), bytes = in.varint();
    if (steps >= scan.count_ - one.seq || bytes >= scan.at_ - one.offset) return false;
    if (i == 0 ? steps != 0 || bytes < scan.blocks_at_ : steps == 0 || bytes < kBlockBytesMin)
      return false;
    if (steps > Scan::kCheckpointEvery) return false;  // who jumps would read more than that
    one.seq += steps;
    one.offset += bytes;
    one.full = (bits & kFull) != 0;
    one.flagged = (bits & kFlagged) != 0;
    if (bits >> kJointShift > static_cast<uint64_t>(Joint::Goes)) return false;
    one.joint = static_cast<Joint>(bits >> kJointShift);
    one.checkpoint = 0;
    if ((bits & kFromCheckpoint) != 0) one.checkpoint = static_cast<uint32_t>(in.varint());
    if ((bits & kOtherThread) != 0) one.tid_before = static_cast<uint32_t>(in.varint());
    const uint64_t led = (bits & kLed) != 0 ? in.varint() : 0;
    if (in.bad() || led > (i == 0 ? one.offset - scan.blocks_at_ : bytes)) return false;
    one.lead = one.offset - led;
    one.listed = (bits & kListed) != 0;
    scan.keyframes_.push_back(one);
    scan.keyframe_steps_.push_back(one.seq);
  }
  if (count != 0 && scan.count_ - one.seq > Scan::kCheckpointEvery) return false;
  const uint64_t checkpoints = in.varint();
  const uint32_t dump_bytes = scan.shape_.dump_bytes(), words = scan.shape_.words;
  if (in.bad() || checkpoints > in.left() / dump_bytes) return false;
  scan.checkpoints_.resize(checkpoints);
  for (WordState& state : scan.checkpoints_) {
    state.tid = static_cast<uint32_t>(in.varint());
    const Bytes dump = in.take(dump_bytes), valid = in.take((words + 7) / 8);
    if (in.bad()) return false;
    std::copy(dump.begin(), dump.end(), state.dump.begin());
    for (uint32_t word = 0; word < words; ++word)
      state.valid[word] = (valid[word / 8] >> (word % 8) & 1) != 0;
  }
  return std::all_of(scan.keyframes_.begin(), scan.keyframes_.end(),
                     [&](const Keyframe& k) { return k.checkpoint <= checkpoints; });
}

bool Notes::read_lists(Cursor& in, uint64_t file_bytes, Scan& scan) {
  uint64_t count;
  if (!read_ascending(in, scan.count_, scan.sessions_) || !read_count(in, count)) return false;
  if (scan.sessions_.empty() ? scan.count_ != 0 : scan.sessions_[0] != 0) return false;
  uint64_t last = 0;
  for (uint64_t i = 0; i < count; ++i) {
    Gap one;
    one.from = in.varint();
    one.to = in.varint();
    one.seq = in.varint();
    const uint64_t bits = in.varint();
    one.told = (bits & 1) != 0;
    one.zeros = (bits & 2) != 0;
    one.why = read_text(in);
    if (in.bad() || one.from < last || one.to <= one.from || one.to > scan.at_ ||
        one.seq > scan.count_)
      return false;
    last = one.to;
    scan.gaps_.push_back(std::move(one));
  }
  return read_ascending(in, file_bytes, scan.hidden_) &&
         read_ascending(in, uint64_t{1} << 32, scan.threads_);
}

bool Notes::read_bases(Cursor& in, Scan& scan) {
  const bool given_up = in.varint() != 0;
  uint64_t threads, count;
  if (!read_count(in, threads)) return false;
  std::map<uint32_t, std::vector<SegmentBases::Shown>> shown;
  for (uint64_t i = 0; i < threads; ++i) {
    auto& list = shown[static_cast<uint32_t>(in.varint())];
    if (!list.empty() || !read_count(in, count)) return false;
    for (uint64_t k = 0; k < count; ++k) {
      SegmentBases::Shown one;
      one.seq = in.varint();
      one.base = in.varint();
      if (in.bad() || one.seq >= scan.count_ || (k != 0 && one.seq <= list.back().seq))
        return false;
      list.push_back(one);
    }
  }
  scan.bases_.take(std::move(shown), given_up);
  for (size_t i = 0; i < scan.keyframes_.size(); ++i)
    if (scan.may_begin_at(i)) scan.bases_.may_begin(scan.keyframes_[i].seq);
  return true;
}

bool Notes::read_resume(Cursor& in, Scan& scan, std::optional<Scan::Resume>& out) {
  Scan::Resume resume;
  resume.at = in.varint();
  resume.count = in.varint();
  resume.tid = static_cast<uint32_t>(in.varint());
  resume.after_flagged = in.varint() != 0;
  resume.announced = in.varint() != 0;
  const uint64_t last = in.varint(), led = in.varint();
  resume.left_out.count = in.varint();
  resume.left_out.bytes = in.varint();
  if (in.bad() || resume.at < scan.blocks_at_ || resume.at > scan.at_ ||
      resume.count > scan.count_ || last > resume.at || led > resume.at - scan.blocks_at_ ||
      !read_ascending(in, uint64_t{1} << 32, resume.threads))
    return false;
  resume.last_at = resume.at - last;
  resume.lead = resume.at - led;
  // What going back there keeps is counted by it.
  const auto behind = std::lower_bound(
      scan.keyframes_.begin(), scan.keyframes_.end(), resume.at,
      [](const Keyframe& one, uint64_t at) { return one.offset < at; });
  const bool none = behind == scan.keyframes_.begin();
  if (none ? resume.count != 0 : behind[-1].seq >= resume.count) return false;
  if (!read_log(in, resume.problems)) return false;
  out = std::move(resume);
  return true;
}

bool Notes::read_push_old(Cursor& in, const Scan& scan, Generation& generation) {
  uint64_t count;
  if (!read_count(in, count) || count != scan.sessions_.size()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t one = in.varint();
    if (one > kPushOldMax) return false;
    generation.push_old.push_back(static_cast<PushOld>(one));
  }
  return true;
}

bool Notes::read(Bytes notes, uint64_t file_bytes, Contents& contents) {
  if (!as_text(notes).starts_with(kNotesMagic) || file_bytes > contents.file->bytes().size())
    return false;
  Cursor in(notes.subspan(kNotesMagic.size()));
  Scan& scan = contents.scan;
  if (!read_places(in, file_bytes, scan) || !read_keyframes(in, scan) ||
      !read_lists(in, file_bytes, scan) || !read_bases(in, scan))
    return false;
  Generation& generation = contents.generation;
  bool resumes = false, open = false;
  for (bool* one : {&generation.both_entries, &generation.leave_entries, &generation.leave_bare,
                    &generation.minimal, &resumes, &open})
    *one = in.varint() != 0;
  if (!read_push_old(in, scan, generation)) return false;
  if (resumes && !read_resume(in, scan, scan.resume_)) return false;
  if (open && !read_resume(in, scan, scan.open_)) return false;
  if (!read_log(in, contents.problems) || !in.at_end() || in.bad()) return false;
  scan.find_stretches();
  list_user_blocks(contents.file->bytes(), scan);
  return true;
}

/// Notes say where there are some; they may be as many as steps. Those in front of the first
/// keyframe's lead, which is the end of a gap then, are of none, and always looked for.
void Notes::list_user_blocks(Bytes file, Scan& scan) {
  const LeftOut left_out = scan.left_out_;
  const std::vector<Keyframe>& all = scan.keyframes_;
  scan.list_user_blocks(file, {.lead = scan.blocks_at_},
                        all.empty() ? scan.at_ : all.front().lead);
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].listed)
      scan.list_user_blocks(file, all[i], i + 1 < all.size() ? all[i + 1].lead : scan.at_);
  scan.left_out_ = left_out;
}

}  // namespace tracewell::formats::trace64
