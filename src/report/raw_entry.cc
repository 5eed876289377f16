#include "report/raw_entry.h"

#include <algorithm>

#include "base/bytes.h"

namespace tracewell::report {

void put_raw_entry(const Entry& entry, TextBuffer& out) {
  constexpr size_t kLengthMax = 0xffff - kStoredBehind;
  Bytes data = entry.buffer;
  size_t padding = 0;
  uint8_t number[8];
  const auto put = [&](uint64_t value, size_t size) {
    store_uint(number, value, size, entry.endian);
    out.append(as_text({number, size}));
  };
  if (entry.environment_bits == 64) {
    data = data.subspan(8, std::min(data.size() - 8, kLengthMax));
    put(entry.type, 2);
    put(data.size() + kStoredBehind, 2);
    put(entry.hook, 2);
    put(entry.subhook, 2);
  } else {
    constexpr size_t kAllWords = 5 * 4;
    put((entry.hook & 0xfff0u) | (entry.type & 0xfu), 2);
    put(entry.subhook, 2);
    data = data.subspan(4);
    if (!entry.generic && (entry.type & 7) == 6)
      padding = kAllWords - std::min(data.size(), kAllWords);
    else
      padding = (4 - data.size() % 4) % 4;
  }
  out.append(as_text(data));
  out.append('\0', padding);
  put(entry.tid, 8);
  put(static_cast<uint64_t>(entry.time_ns), 8);
}

}  // namespace tracewell::report
