#include "formats/tracebuffer/walker.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "rsp/compact_blocks.h"
#include "rsp/frames.h"

namespace tracewell::formats {
namespace {

using Severity = Problem::Severity;

constexpr uint64_t kMarkFrames = 64;
constexpr uint64_t kAlign = 4;
// A file can be huge and empty at once (sparse): so many bytes in a row without a frame, and it is
// over.
constexpr uint64_t kSearchMax = 64 << 20;

}  // namespace

Result<std::unique_ptr<Source>> TracebufferWalker::open(std::shared_ptr<InputFile> file,
                                                        bool in_use, const OpenOptions& options,
                                                        ProblemLog& problems) {
  TW_ASSIGN_OR_RETURN(TracebufferEntries entries, TracebufferEntries::open(file->bytes()));
  std::unique_ptr<TracebufferWalker> reader(
      new TracebufferWalker(std::move(file), std::move(entries), in_use, problems));
  const TracebufferEntries& all = reader->entries_;
  reader->tell_cut(all);
  reader->read_description(all, all.begin() != all.end());
  reader->look_at_frames(options);
  reader->finish_status(all.header(), reader->created_);
  return std::unique_ptr<Source>(std::move(reader));
}

bool TracebufferWalker::may_follow(const Entry& entry, uint64_t bytes,
                                   std::optional<uint32_t> number) const {
  if (!number) return true;
  return entry.number - *number <= bytes / sizeof(ring::FrameEntry);
}

/// The next place behind `at` that has a frame, or the end. Bytes that look like the head of one
/// are one if its blocks make sense, or if the next frame follows.
uint64_t TracebufferWalker::search_next(uint64_t at, std::optional<uint32_t> number) {
  const uint64_t end = entries_.end(), begin = at;
  for (at += kAlign; at < end && at - begin < kSearchMax; at += kAlign) {
    if (const uint64_t behind = entries_.behind_cut(at); behind != at) {
      at = behind - kAlign;
      continue;
    }
    const auto entry = entries_.entry(at);
    if (!entry || !may_follow(*entry, at - begin, number)) continue;
    const uint64_t next_at = at + entry->bytes;
    if (next_at == end || entries_.behind_cut(next_at) != next_at) return at;
    const auto next = entries_.entry(next_at);
    if ((next && next->number == entry->number + 1) || makes_sense(*entry, at)) return at;
  }
  return at;
}

bool TracebufferWalker::makes_sense(const Entry& entry, uint64_t at) {
  entries_.blocks(entry, at, compact_);
  data_.clear();
  return rsp::expand_blocks(compact_, entries_.header().register_block_bytes, entries_.endian(),
                            data_)
      .ok();
}

void TracebufferWalker::look_at_frames(const OpenOptions& options) {
  if (entries_.too_many())
    problems_.add({offsetof(ring::Header, begin), Severity::Damage, "record-count",
                   "the header counts more bytes of frames than there is room for"});
  const auto stage = options.work.stage("reading", entries_.end() - entries_.begin());
  std::unordered_set<int32_t> threads;
  std::optional<uint32_t> number;  // of the frame that is to come
  if (!entries_.too_many()) number = static_cast<uint32_t>(entries_.header().first);
  bool follows = false;  // the frame before
  for (uint64_t at = entries_.begin(); at < entries_.end();) {
    const auto entry = entries_.entry(at);
    if (in_use_ && entries_.overwritten(at)) {
      const uint64_t begin = entries_.begin_now();
      if (begin == UINT64_MAX) break;  // all were dropped
      at = begin;
      number.reset();
      follows = false;
      continue;
    }
    if (!entry || (number && entry->number != *number && follows)) {
      const uint64_t next = search_next(at, number);
      problems_.add({entries_.offset_of(at), Severity::Damage, "bad-record",
                     fmt::format("there is no frame where one should be; {} bytes up to the next "
                                 "one are lost", next - at)});
      if (next < entries_.end() && next - at >= kSearchMax)
        problems_.add({entries_.offset_of(next), Severity::Damage, "records-end",
                       "no frame for long; those behind are not looked for"});
      if (next - at >= kSearchMax) break;
      at = next;
      follows = false;
      continue;
    }
    if (!follows || count_ - marks_.back().seq == kMarkFrames) marks_.push_back({count_, at});
    follows = true;
    number = entry->number + 1;
    look_at_blocks(*entry, at, entry->number);
    kept_bytes_ += entry->bytes;
    saved_bytes_ += rsp::kFrameHeaderBytes + data_.size();
    at += entry->bytes;
    if (entry->tid != 0) threads.insert(entry->tid);
    if (++count_ % kProgressFrames == 0) stage->at(kept_bytes_);
  }
  threads_ = threads.size();
  // A writer that was killed may not have got to count its last frame. One that goes on had counted
  // fewer when the header was read, a moment before `end`.
  created_ = entries_.header().next;
  const uint32_t more = number ? *number - static_cast<uint32_t>(created_) : 0;
  if (more == 1 || (in_use_ && more <= count_)) created_ += more;
}

void TracebufferWalker::look_at_blocks(const Entry& entry, uint64_t at, uint64_t number) {
  entries_.blocks(entry, at, compact_);
  data_.clear();
  const uint64_t whole = entry.bytes - entry.head_bytes - entry.fill();
  if (compact_.size() < whole) {
    problems_.add({entries_.offset_of(at), Severity::Damage, "frame-cut",
                   fmt::format("frame {}: the file has {} of its {} bytes", number,
                               compact_.size(), whole)});
    return;
  }
  const Status status = rsp::expand_blocks(compact_, entries_.header().register_block_bytes,
                                           entries_.endian(), data_);
  if (status || (in_use_ && entries_.overwritten(at))) return;
  const Error& error = status.error();
  problems_.add({entries_.offset_of(at), Severity::Damage,
                 error.code == Errc::Truncated ? "block-cut" : "unknown-block",
                 fmt::format("frame {}: {}; its last {} bytes are lost", number, error.message,
                             compact_.size() - error.offset.value_or(0))});
}

uint64_t TracebufferWalker::position_of(uint64_t seq) const {
  const auto behind = std::upper_bound(marks_.begin(), marks_.end(), seq,
                                       [](uint64_t s, const Mark& mark) { return s < mark.seq; });
  Mark mark = *(behind - 1);
  for (; mark.seq < seq; ++mark.seq) {
    const auto entry = entries_.entry(mark.at);
    if (!entry) break;  // written over meanwhile
    mark.at += entry->bytes;
  }
  return mark.at;
}

Result<bool> TracebufferWalker::next(Batch& batch) {
  batch.clear();
  uint64_t bytes = 0, at = 0;
  for (; next_ < count_ && batch.size() < kBatchFrames && bytes < kBatchBytes; ++next_) {
    const bool is_marked = std::ranges::binary_search(marks_, next_, {}, &Mark::seq);
    if (batch.empty() || is_marked) at = position_of(next_);
    add_event(batch, at);
    const auto entry = entries_.entry(at);
    at += entry ? entry->bytes : 0;
    bytes += data_.size();
  }
  return !batch.empty();
}

void TracebufferWalker::add_event(Batch& batch, uint64_t at) {
  Event& event = batch.add();
  event.seq = next_;
  event.process = process();
  const auto entry = entries_.entry(at);
  if (entry) entries_.blocks(*entry, at, compact_);
  data_.clear();
  if (!entry || entries_.overwritten(at)) {
    event.body = Lost{1, "a newer frame took its place while it was read"};
    return;
  }
  best_effort(rsp::expand_blocks(compact_, entries_.header().register_block_bytes,
                                 entries_.endian(), data_));
  event.body = frame_of(batch, data_, entry->shape, entry->pc, entries_);
  event.time_ns = entry->time_ns;
  event.tid = static_cast<uint64_t>(static_cast<uint32_t>(entry->tid));
}

template <class Matches>
std::optional<uint64_t> TracebufferWalker::search(uint64_t from, Matches&& matches) const {
  uint64_t at = 0;
  for (uint64_t seq = from; seq < count_; ++seq) {
    const bool is_marked = std::ranges::binary_search(marks_, seq, {}, &Mark::seq);
    if (seq == from || is_marked) at = position_of(seq);
    const auto entry = entries_.entry(at);
    if (!entry) continue;
    if (matches(*entry)) return seq;
    at += entry->bytes;
  }
  return std::nullopt;
}

std::optional<uint64_t> TracebufferWalker::find_tracepoint(uint64_t from,
                                                           int32_t tracepoint) const {
  return search(from, [&](const Entry& one) { return one.shape.tracepoint == tracepoint; });
}

std::optional<uint64_t> TracebufferWalker::find_pc_inside(uint64_t from, uint64_t lo,
                                                          uint64_t hi) const {
  return search(from, [&](const Entry& one) { return lo <= one.pc && one.pc <= hi; });
}

std::optional<uint64_t> TracebufferWalker::find_pc_outside(uint64_t from, uint64_t lo,
                                                           uint64_t hi) const {
  return search(from, [&](const Entry& one) { return one.pc < lo || hi < one.pc; });
}

}  // namespace tracewell::formats
