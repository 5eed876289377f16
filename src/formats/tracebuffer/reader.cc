#include "formats/tracebuffer/reader.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>

#include <fmt/format.h>

#include "rsp/frames.h"

namespace tracewell::formats {
namespace {

using Severity = Problem::Severity;

// A file can be huge and empty at once (sparse): so many records in a row that are none, and it is
// over.
constexpr uint64_t kBadInARowMax = 65536;

}  // namespace

Result<std::unique_ptr<Source>> TracebufferReader::open(std::shared_ptr<InputFile> file,
                                                        bool in_use, const OpenOptions& options,
                                                        ProblemLog& problems) {
  TW_ASSIGN_OR_RETURN(TracebufferFrames frames, TracebufferFrames::open(file->bytes()));
  std::unique_ptr<TracebufferReader> reader(
      new TracebufferReader(std::move(file), std::move(frames), in_use, problems));
  const TracebufferFrames& all = reader->frames_;
  reader->tell_cut(all);
  reader->read_description(all, all.next() != all.first());
  reader->look_at_frames(options);
  reader->finish_status(all.header(), all.next());
  return std::unique_ptr<Source>(std::move(reader));
}

/// Of a file that was cut: the number of the first frame from there whose record is in it.
uint64_t TracebufferReader::skip_cut_off(uint64_t number) {
  uint64_t behind = 0;
  while (number != frames_.next() && frames_.is_cut_off(number, behind)) {
    problems_.add({file_->bytes().size(), Severity::Damage, "records-cut",
                   fmt::format("{} records from that of frame {} on were cut off; these frames are "
                               "lost",
                               behind - number, number)});
    number = behind;
  }
  return number;
}

void TracebufferReader::look_at_frames(const OpenOptions& options) {
  if (frames_.too_many())
    problems_.add({offsetof(ring::Header, first), Severity::Damage, "record-count",
                   "the header counts more frames than there are records"});
  const auto stage = options.work.stage("reading", frames_.header().data_bytes);
  std::unordered_set<int32_t> threads;
  std::optional<uint64_t> end;  // of the frame before, when that was good
  uint64_t bad_in_a_row = 0;
  for (uint64_t number = frames_.first(); number != frames_.next(); ++number) {
    if (const uint64_t there = skip_cut_off(number); there != number) {
      end.reset();
      number = there;
      if (number == frames_.next()) break;
    }
    const auto record = frames_.record(number);
    if (!record && in_use_ && frames_.overwritten(number)) {
      end.reset();
      continue;
    }
    const uint64_t bytes = record ? rsp::kFrameHeaderBytes + record->size : 0;
    // Frames in each other's bytes would be read once for each of them.
    const bool has_room = bytes <= frames_.header().data_bytes - kept_bytes_;
    if (!record || !has_room || (end && record->at != *end)) {
      problems_.add({frames_.record_offset(number), Severity::Damage, "bad-record",
                     fmt::format("frame {} is not where its record says; it is lost", number)});
      end.reset();
      if (++bad_in_a_row < kBadInARowMax) continue;
      problems_.add({frames_.record_offset(number), Severity::Damage, "records-end",
                     "no frame for long; those behind are not looked for"});
      break;
    }
    if (!end || runs_.empty()) runs_.push_back({count_, number});
    bad_in_a_row = 0;
    end = record->at + bytes;
    kept_bytes_ += bytes;
    look_at_blocks(number, *record);
    if (record->tid != 0) threads.insert(record->tid);
    if (++count_ % kProgressFrames == 0) stage->at(kept_bytes_);
  }
  threads_ = threads.size();
}

void TracebufferReader::look_at_blocks(uint64_t number,
                                       const TracebufferFrames::FrameRecord& record) {
  frames_.data(record, data_);
  if (data_.size() < record.size) {
    problems_.add({frames_.record_offset(number), Severity::Damage, "frame-cut",
                   fmt::format("frame {}: the file has {} of its {} bytes", number, data_.size(),
                               record.size)});
    return;
  }
  rsp::BlockWalker walker(data_, frames_.header().register_block_bytes, frames_.endian());
  while (walker.next()) continue;
  if (!walker.failed() || (in_use_ && frames_.overwritten(number))) return;
  const Error error = walker.error();
  problems_.add({frames_.record_offset(number), Severity::Damage,
                 error.code == Errc::Truncated ? "block-cut" : "unknown-block",
                 fmt::format("frame {}: {}; its last {} bytes are lost", number, error.message,
                             data_.size() - walker.offset())});
}

uint64_t TracebufferReader::number_of(uint64_t seq) const {
  const auto behind = std::upper_bound(runs_.begin(), runs_.end(), seq,
                                       [](uint64_t s, const Run& run) { return s < run.seq; });
  const Run& run = *(behind - 1);
  return run.number + (seq - run.seq);
}

Result<bool> TracebufferReader::next(Batch& batch) {
  batch.clear();
  uint64_t bytes = 0;
  for (; next_ < count_ && batch.size() < kBatchFrames && bytes < kBatchBytes; ++next_) {
    add_event(batch);
    bytes += data_.size();
  }
  return !batch.empty();
}

void TracebufferReader::add_event(Batch& batch) {
  const uint64_t number = number_of(next_);
  Event& event = batch.add();
  event.seq = next_;
  event.process = process();
  const auto record = frames_.record(number);
  if (record) frames_.data(*record, data_);
  if (!record || frames_.overwritten(number)) {
    event.body = Lost{1, "a newer frame took its place while it was read"};
    return;
  }
  ring::FrameShape shape{.tracepoint = record->tracepoint, .masked = record->masked};
  std::ranges::copy(record->mask, shape.mask);
  event.body = frame_of(batch, data_, shape, record->pc, frames_);
  event.time_ns = record->time_ns;
  event.tid = static_cast<uint64_t>(static_cast<uint32_t>(record->tid));
}

template <class Matches>
std::optional<uint64_t> TracebufferReader::search(uint64_t from, Matches&& matches) const {
  for (uint64_t seq = from; seq < count_; ++seq) {
    const auto record = frames_.record(number_of(seq));
    if (record && matches(*record)) return seq;
  }
  return std::nullopt;
}

std::optional<uint64_t> TracebufferReader::find_tracepoint(uint64_t from,
                                                           int32_t tracepoint) const {
  return search(from, [&](const auto& record) { return record.tracepoint == tracepoint; });
}

std::optional<uint64_t> TracebufferReader::find_pc_inside(uint64_t from, uint64_t lo,
                                                          uint64_t hi) const {
  return search(from, [&](const auto& record) { return lo <= record.pc && record.pc <= hi; });
}

std::optional<uint64_t> TracebufferReader::find_pc_outside(uint64_t from, uint64_t lo,
                                                           uint64_t hi) const {
  return search(from, [&](const auto& record) { return record.pc < lo || hi < record.pc; });
}

}  // namespace tracewell::formats
