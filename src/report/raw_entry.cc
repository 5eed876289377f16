#include "report/raw_entry.h"

#include <algorithm>

#include "base/bytes.h"

namespace tracewell::report {

namespace {

/// What is stored behind the hook word, in front of thread and time.
struct Stored {
  Bytes data;
  size_t padding = 0;  // bytes of zeros behind it
};

Stored stored_of(const Entry& entry) {
  constexpr size_t kLengthMax = 0xffff - kStoredBehind;
  constexpr size_t kAllWords = 5 * 4;
  const Bytes data = entry.buffer.subspan(entry.word_bytes());
  if (entry.environment_bits == 64) return {data.first(std::min(data.size(), kLengthMax)), 0};
  if (!entry.generic && (entry.type & 7) == 6)
    return {data, kAllWords - std::min(data.size(), kAllWords)};
  return {data, (4 - data.size() % 4) % 4};
}

}  // namespace

size_t raw_entry_bytes(const Entry& entry) {
  const Stored stored = stored_of(entry);
  return entry.word_bytes() + stored.data.size() + stored.padding + kStoredBehind;
}

void put_raw_entry(const Entry& entry, TextBuffer& out) {
  const Stored stored = stored_of(entry);
  uint8_t number[8];
  const auto put = [&](uint64_t value, size_t size) {
    store_uint(number, value, size, entry.endian);
    out.append(as_text({number, size}));
  };
  if (entry.environment_bits == 64) {
    put(entry.type, 2);
    put(stored.data.size() + kStoredBehind, 2);
    put(entry.hook, 2);
    put(entry.subhook, 2);
  } else {
    put((entry.hook & 0xfff0u) | (entry.type & 0xfu), 2);
    put(entry.hook_data(), 2);
  }
  out.append(as_text(stored.data));
  out.append('\0', stored.padding);
  put(entry.tid, 8);
  put(static_cast<uint64_t>(entry.time_ns), 8);
}

}  // namespace tracewell::report
