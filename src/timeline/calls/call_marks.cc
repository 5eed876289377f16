#include "timeline/calls/call_marks.h"

#include <algorithm>
#include <utility>

#include "base/varint.h"

namespace tracewell::timeline {
namespace {

using machine::Flow;

constexpr size_t kOffsetBytes = 4;
constexpr size_t kHeadBytesMax = 1 + 3 * kVarintMax;

}  // namespace

std::optional<Transfer> arrival_between(const ThreadEnds& before, const ThreadEnds& now,
                                        uint32_t step) {
  if (before.lost_behind || now.lost_before) return std::nullopt;
  const machine::FlowInstruction& flow = before.last_flow;
  if (flow.flow == Flow::Return) return Transfer{step, true, now.first_pc, 0};
  if (flow.flow != Flow::Call) return std::nullopt;
  return Transfer{step, false, now.first_pc, before.last_pc + flow.length};
}

void CallMarksWriter::begin_session(uint64_t session) {
  if (session != session_) {
    threads_.clear();
    loss_ = 0;
  }
  session_ = session;
}

/// All of the stream but its head; `bytes` are all that `own` has. Its first step, if `own` is what
/// a segment has.
std::optional<uint32_t> CallMarksWriter::write_records(Thread& thread, uint64_t first,
                                                       const std::optional<Transfer>& arrival,
                                                       const Transfers& own, size_t bytes,
                                                       std::vector<uint8_t>& out) {
  const size_t chunks = std::max<size_t>(own.chunks(), 1);
  append_varint(out, chunks);
  std::vector<Transfer> entries;
  std::vector<uint8_t> records;
  ByteWriter offsets(out, Endian::Little);
  uint32_t begin = 0;
  for (size_t i = 0; i < chunks; ++i) {
    entries.clear();
    if (i == 0 && arrival) entries.push_back(*arrival);
    if (i < own.chunks() && !own.read(i, entries)) return std::nullopt;
    // Each has a byte at least, and no other one has that.
    if (entries.empty() || entries.size() > bytes + 1) return std::nullopt;
    bytes -= std::min(entries.size(), bytes);
    if (i == 0)
      begin = entries.front().step;
    else
      offsets.uint(records.size(), kOffsetBytes);
    write_record(thread, first, entries, records);
  }
  out.insert(out.end(), records.begin(), records.end());
  return begin;
}

std::optional<Pieces> CallMarksWriter::take(uint64_t first,
                                            std::span<const SegmentBuilder::ThreadSpan> threads,
                                            uint64_t loss_end, const StreamTable& transfers) {
  StreamTableWriter table;
  bool any = false;
  size_t left = transfers.streams_max();
  std::vector<uint8_t> out;
  for (const SegmentBuilder::ThreadSpan& span : threads) {
    const auto [found, is_new] = threads_.try_emplace(span.tid);
    Thread& thread = found->second;
    const auto arrival = is_new || thread.last < loss_
                             ? std::nullopt
                             : arrival_between(thread.ends, span.ends, span.first);
    thread.last = first + span.last;
    thread.ends = span.ends;
    const auto stream = transfers.find(span.tid);
    const Transfers own = stream ? Transfers(*stream) : Transfers();
    const size_t bytes = stream ? stream->bytes.size() : 0;
    if (bytes > left || (stream && own.chunks() == 0)) return std::nullopt;
    left -= bytes;
    if (!arrival && own.chunks() == 0) continue;
    out.assign({static_cast<uint8_t>(!arrival ? 0 : arrival->is_return ? 3 : 1)});
    if (arrival) append_varint(out, arrival->to);
    if (arrival && !arrival->is_return) append_varint(out, folded(arrival->back - arrival->to));
    const auto begin = write_records(thread, first, arrival, own, bytes, out);
    if (!begin) return std::nullopt;
    table.add(span.tid, {*begin, out});
    any = true;
  }
  if (loss_end != 0) loss_ = first + loss_end - 1;
  return any ? table.finish() : Pieces();
}

std::optional<Pieces> CallMarksWriter::take_over(const Segment& segment) {
  std::vector<SegmentBuilder::ThreadSpan> threads;
  segment.table(Part::Threads).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
    const auto thread = read_thread(item.stream);
    const auto first = thread ? thread->steps.next(0) : std::nullopt;
    const auto last = thread ? thread->steps.last(segment.count) : std::nullopt;
    if (first && last)
      threads.push_back({item.key, *first, *last, thread->ends.value_or(ThreadEnds())});
    return true;
  });
  if (threads.size() > segment.count) return std::nullopt;
  return take(segment.first, threads, segment.loss_end, segment.table(Part::Transfers));
}

void CallMarksWriter::write_record(Thread& thread, uint64_t first,
                                   std::span<const Transfer> entries, std::vector<uint8_t>& out) {
  std::vector<uint32_t> own;    // open calls of the chunk, by number of entry
  std::vector<uint64_t> ended;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Transfer& one = entries[i];
    if (!one.is_return) {
      if (thread.backs.call(one.to, one.back) != machine::CallStack::Arrival::Entered) continue;
      thread.steps.push_back(first + one.step);
      own.push_back(static_cast<uint32_t>(i));
      continue;
    }
    const size_t count = thread.backs.come_back(one.to);
    thread.steps.resize(thread.steps.size() - count);
    const size_t of_own = std::min(count, own.size());
    own.resize(own.size() - of_own);
    if (count == 0 || count > of_own) ended.push_back(count - of_own);
  }
  const size_t beneath = thread.steps.size() - own.size();
  append_varint(out, beneath);
  if (beneath != 0) append_varint(out, first + entries.front().step - thread.steps[beneath - 1]);
  append_varint(out, own.size());
  uint32_t last = 0;
  for (const uint32_t number : own) append_varint(out, number - std::exchange(last, number));
  append_varint(out, ended.size());
  for (const uint64_t count : ended) append_varint(out, count);
}

CallMarks::CallMarks(const Segment& segment, uint64_t tid) : segment_(segment) {
  const Sums* const sums = segment.call_sums.get();
  const StreamTable all_transfers = segment.table(Part::Transfers);
  const auto stream = StreamTable(segment.call_marks, sums).find_unseen(tid);
  if (!stream || !good(sums, stream->bytes.first(std::min(stream->bytes.size(), kHeadBytesMax))))
    return;
  Cursor in(stream->bytes);
  first_ = stream->first;
  if (const uint8_t head = in.byte(); (head & 1) != 0) {
    Transfer arrival{first_, (head & 2) != 0, in.varint(), 0};
    if (!arrival.is_return) arrival.back = arrival.to + unfolded(in.varint());
    arrival_ = arrival;
  }
  const uint64_t chunks = in.varint();
  if (in.bad() || chunks == 0 || chunks - 1 > in.left() / kOffsetBytes) return;
  offsets_ = in.take((chunks - 1) * kOffsetBytes).data();
  records_ = in.take(in.left());
  const auto transfers = all_transfers.find_unseen(tid);
  if (transfers) transfers_ = Transfers(*transfers, segment.sums.get());
  chunks_ = std::min<size_t>(chunks, std::max<size_t>(transfers_.chunks(), 1));
}

uint64_t CallMarks::first(size_t chunk) const {
  return segment_.first + (chunk == 0 ? first_ : transfers_.first(chunk));
}

size_t CallMarks::chunk_of(uint64_t step) const {
  const uint64_t within = step < segment_.first ? 0 : step - segment_.first;
  return std::min(transfers_.chunk_of(within), chunks_ - 1);
}

bool CallMarks::read(size_t chunk, Record& record) const {
  const Sums* const sums = segment_.call_sums.get();
  uint64_t begin = 0, end = records_.size();
  const auto offset = [&](size_t of, uint64_t& to) {
    const uint8_t* at = offsets_ + (of - 1) * kOffsetBytes;
    to = load_uint(at, kOffsetBytes, Endian::Little);
    return good(sums, {at, kOffsetBytes});
  };
  if (chunk != 0 && !offset(chunk, begin)) return false;
  if (chunk + 1 < chunks_ && !offset(chunk + 1, end)) return false;
  if (begin > end || end > records_.size()) return false;
  const Bytes bytes = records_.subspan(begin, end - begin);
  if (!good(sums, bytes)) return false;
  Cursor in(bytes);
  record = {};
  record.beneath = in.varint();
  if (record.beneath != 0) {
    const uint64_t distance = in.varint(), from = first(chunk);
    if (distance == 0 || distance > from) return false;
    record.beneath_step = from - distance;
  }
  // Of as many entries as a chunk has, and the arrival.
  const auto count = [&](uint64_t& left) {
    left = in.varint();
    return !in.bad() && left <= Transfers::kChunk + 1;
  };
  uint64_t number = 0, left = 0;
  if (!count(left)) return false;
  for (; left > 0 && !in.bad(); --left) {
    number += in.varint();
    if (number > Transfers::kChunk) return false;
    record.open.push_back(static_cast<uint32_t>(number));
  }
  if (!count(left)) return false;
  for (; left > 0 && !in.bad(); --left) record.ended.push_back(in.varint());
  return !in.bad();
}

bool CallMarks::entries(size_t chunk, std::vector<Transfer>& out) const {
  out.clear();
  if (chunk == 0 && arrival_) out.push_back(*arrival_);
  if (chunk == 0 && transfers_.chunks() == 0) return true;
  return transfers_.read(chunk, out);
}

}  // namespace tracewell::timeline
