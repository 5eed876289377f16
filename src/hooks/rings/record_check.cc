#include "hooks/rings/record_check.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/endian.h"
#include "ring/hook_packet.h"

namespace tracewell::hooks {
namespace {

using RecordKind = ring::HookRecord::Kind;

constexpr uint32_t kRecordBytesMin = 12;
constexpr uint64_t kTickMask = (uint64_t{1} << TRACEWELL_RECORD_TICK_BITS) - 1;

/// Bytes of records of words, by id; 0 = it is another one.
constexpr auto kWordBytes = [] {
  std::array<uint8_t, 256> out{};
  for (unsigned words = 0; words <= TRACEWELL_HOOK_WORDS_MAX; ++words) {
    out[TRACEWELL_RECORD_WORDS_64 + words] = static_cast<uint8_t>(kRecordBytesMin + 8 * words);
    out[TRACEWELL_RECORD_WORDS_32 + words] = static_cast<uint8_t>(kRecordBytesMin + 4 * words);
  }
  return out;
}();

uint64_t flags_of(const Within& within) {
  return TRACEWELL_RECORD_TIMED | (within.cpus ? TRACEWELL_RECORD_CPU : 0);
}

/// Of another record, without a processor; 0: there is none that is whole. Marks of operators are
/// in a file of their own.
size_t other_bytes(Bytes rest, uint64_t id, uint64_t flags) {
  size_t at = 8;
  if (id == TRACEWELL_RECORD_GENERIC_64) at = TRACEWELL_RECORD_HEAD + 8;
  if (id == TRACEWELL_RECORD_GENERIC_32) at = TRACEWELL_RECORD_HEAD + 4;
  const bool hook = at != 8;
  if (!hook && ((id != TRACEWELL_RECORD_PROGRAM && id != TRACEWELL_RECORD_THREAD) || flags != 0))
    return 0;
  if (at + 2 > rest.size()) return 0;
  const uint64_t length = load_uint(rest.data() + at, 2, Endian::Little);
  if (id == TRACEWELL_RECORD_THREAD && length != 4) return 0;
  return (at + 2 + length + 3) / 4 * 4;
}

bool is_sound(Bytes record, const Within& within) {
  const uint64_t id = record[0], flags = record[1];
  if ((flags & ~flags_of(within)) != 0) return false;
  return kWordBytes[id] != 0 || other_bytes(record, id, flags) != 0;
}

}  // namespace

bool bound_times(tracewell_packet& head, bool open, const Within& within) {
  const uint64_t begin = std::clamp(head.ticks_begin, within.first, within.last);
  const uint64_t end = open ? begin : std::clamp(head.ticks_end, begin, within.last);
  const bool bounded = begin != head.ticks_begin || (!open && end != head.ticks_end);
  head.ticks_begin = begin;
  head.ticks_end = end;
  return bounded;
}

bool are_sound(Bytes records, const tracewell_packet& head, const Within& within) {
  const uint64_t flags_bad = ~flags_of(within) & 0xff;
  uint64_t ticks = head.ticks_begin;
  size_t at = 0, guess = 0;
  while (at < records.size()) {
    const size_t left = records.size() - at;
    if (left < kRecordBytesMin) return false;
    uint64_t first;
    std::memcpy(&first, records.data() + at, sizeof first);  // little endian, as this machine is
    const uint64_t id = first & 0xff, flags = first >> 8 & 0xff;
    const uint64_t passed = ((first >> 16) - ticks) & kTickMask;
    size_t bytes = kWordBytes[id];
    if (bytes == 0) bytes = other_bytes(records.subspan(at), id, flags);
    bytes += flags & TRACEWELL_RECORD_CPU ? 4 : 0;
    if (bytes < kRecordBytesMin || bytes > left || (flags & flags_bad) != 0 ||
        passed > kTickMask / 2)
      return false;
    ticks += passed;
    // Most records are as long as those before. A processor that guesses the branch need not wait
    // for what it reads of one to look at the next.
    if (bytes != guess) {
      guess = bytes;
      __asm__ volatile("" : "+r"(guess));
    }
    at += guess;
  }
  return ticks <= head.ticks_end;
}

Kept keep_sound(std::vector<uint8_t>& records, bool open, tracewell_packet& head,
                const Within& within) {
  ring::HookWalk walk(records, open, 0);
  ring::HookRecord record;
  std::vector<uint8_t> kept;
  Kept out;
  uint32_t hooks = 0;
  uint64_t ticks = head.ticks_begin;
  while (walk.next(record)) {
    const Bytes bytes = Bytes(records).subspan(record.at, record.bytes);
    if (record.kind != RecordKind::Committed || !is_sound(bytes, within)) {
      ++out.left_out;
      continue;
    }
    hooks += record.word_bytes != 0;
    const uint64_t said = ring::hook_ticks(head.ticks_begin, record.ticks);
    ticks = std::clamp(said, ticks, within.last);
    kept.insert(kept.end(), bytes.begin(), bytes.end());
    if (ticks == said) continue;
    out.bounded = true;
    for (size_t i = 0; i < TRACEWELL_RECORD_TICK_BITS / 8; ++i)
      kept[kept.size() - bytes.size() + 2 + i] = static_cast<uint8_t>(ticks >> 8 * i);
  }
  head.ticks_end = std::max(head.ticks_end, ticks);
  if (!open && head.records > hooks) out.left_out = head.records - hooks;
  head.records = hooks;
  records = std::move(kept);
  return out;
}

}  // namespace tracewell::hooks
