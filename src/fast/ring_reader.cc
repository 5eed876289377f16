#include "fast/ring_reader.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/check.h"

namespace tracewell::fast {
namespace {

template <class Number>
Number load(Number& number) {
  return std::atomic_ref(number).load(std::memory_order_acquire);
}
template <class Number>
void store(Number& number, std::type_identity_t<Number> value) {
  std::atomic_ref(number).store(value, std::memory_order_release);
}

}  // namespace

RingReader::RingReader(std::span<uint8_t> memory, const AreaShape& shape)
    : memory_(memory), shape_(shape), seen_(shape.rings) {
  TW_CHECK(memory.size() >= shape.bytes());
}

uint64_t RingReader::key(uint32_t number) const {
  TW_CHECK(number < shape_.rings);
  return load(reinterpret_cast<uint64_t*>(memory_.data() + shape_.keys_offset())[number]);
}

uint32_t RingReader::tid(uint32_t number) const {
  TW_CHECK(number < shape_.rings);
  return load(ring(number).tid);
}

uint32_t& RingReader::commit_word(uint32_t number, uint64_t position) const {
  const uint64_t cell = position % shape_.ring_bytes / TRACEWELL_CELL;
  return reinterpret_cast<uint32_t*>(memory_.data() +
                                     shape_.commit_offset())[number * shape_.cells() + cell];
}

uint64_t RingReader::next(uint32_t number) const {
  const uint64_t tail = seen_[number].tail;
  const uint64_t ahead = load(ring(number).head) - tail;
  const uint64_t origin = load(ring(number).origin);
  const bool anew = origin % shape_.ring_bytes == 0 && origin - tail <= ahead &&
                    origin - tail < shape_.ring_bytes && ahead < 2 * uint64_t{shape_.ring_bytes};
  return anew ? origin : tail;
}

uint64_t RingReader::head(uint32_t number) const {
  const uint64_t tail = seen_[number].tail;
  const uint64_t ahead = load(ring(number).head) - tail;
  return tail + std::min<uint64_t>(ahead, shape_.ring_bytes) / TRACEWELL_CELL * TRACEWELL_CELL;
}

uint64_t RingReader::used(uint32_t number) const {
  TW_CHECK(number < shape_.rings);
  const uint64_t used = load(ring(number).head) - next(number);
  return std::min<uint64_t>(used, shape_.ring_bytes);
}

bool RingReader::waiting(uint32_t number) const {
  TW_CHECK(number < shape_.rings);
  return key(number) != 0 && head(number) != seen_[number].tail;
}

void RingReader::release(uint32_t number, uint64_t position, uint64_t bytes) {
  store(commit_word(number, position), 0);
  seen_[number].tail = position + bytes;
  store(ring(number).tail, seen_[number].tail);
}

/// The record at the tail, of `bytes` with what fills its last cell. false: it makes no sense.
bool RingReader::visit_record(uint32_t number, uint64_t bytes, const Visit& visit) {
  const uint8_t* const from = memory_.data() + shape_.data_offset() +
                              number * shape_.data_stride() +
                              seen_[number].tail % shape_.ring_bytes;
  copy_.assign(from, from + bytes);
  tracewell_record record;
  std::memcpy(&record, copy_.data(), sizeof record);
  if (record.bytes == 0) {
    ++seen_[number].losses.too_large;
    return true;
  }
  if (record.bytes < sizeof record || record.bytes > bytes) return false;
  visit({.tid = load(ring(number).tid),
         .plan = record.plan,
         .ticks = record.ticks,
         .blocks = Bytes(copy_).subspan(sizeof record, record.bytes - sizeof record)});
  return true;
}

/// From a place without a record that is finished to the next one that is, or to `end`. Returns the
/// bytes in between; what was begun there is forgotten.
uint64_t RingReader::skip(uint32_t number, uint64_t end) {
  const uint64_t begin = seen_[number].tail;
  uint64_t at = begin;
  for (; at < end; at += TRACEWELL_CELL) {
    uint32_t& word = commit_word(number, at);
    const uint32_t cells = load(word);
    if (at != begin && cells != 0 && (cells & TRACEWELL_RECORD_OPEN) == 0) break;
    if (cells != 0) store(word, 0);
  }
  return at - begin;
}

size_t RingReader::take(uint32_t number, bool ended, const Visit& visit) {
  TW_CHECK(number < shape_.rings);
  Seen& seen = seen_[number];
  seen.tail = next(number);
  uint64_t end = head(number);
  size_t taken = 0;
  while (seen.tail < end) {
    const uint32_t word = load(commit_word(number, seen.tail));
    const bool finished = word != 0 && (word & TRACEWELL_RECORD_OPEN) == 0;
    if (!finished && !ended) break;
    const uint64_t bytes = uint64_t{word} * TRACEWELL_CELL;
    // The end that was seen may have moved back since, and this record be behind it.
    if (finished && bytes > end - seen.tail) end = head(number);
    if (finished && bytes <= end - seen.tail && bytes <= TRACEWELL_RECORD_MAX &&
        visit_record(number, bytes, visit)) {
      ++taken;
      release(number, seen.tail, bytes);
      continue;
    }
    ++(finished ? seen.losses.spoiled : seen.losses.unfinished);
    release(number, seen.tail, skip(number, end));
  }
  return taken;
}

size_t RingReader::give_up(uint32_t number, const Visit& visit) {
  const size_t taken = take(number, true, visit);
  Seen& seen = seen_[number];
  seen.losses.no_room += load(ring(number).lost);
  seen.tail = 0;
  store(ring(number).lost, 0);
  store(ring(number).origin, 0);
  store(ring(number).head, 0);
  store(ring(number).tail, 0);
  store(ring(number).tid, 0);
  store(reinterpret_cast<uint64_t*>(memory_.data() + shape_.keys_offset())[number], 0);
  return taken;
}

RingLosses RingReader::losses(uint32_t number) const {
  TW_CHECK(number < shape_.rings);
  RingLosses losses = seen_[number].losses;
  losses.no_room += load(ring(number).lost);
  return losses;
}

uint64_t RingReader::homeless() const { return load(area().homeless); }

}  // namespace tracewell::fast
