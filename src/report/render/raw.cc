// What an entry looks like that has no template. The hook word is shown as the log has it, with the
// length that it gives there, which templates do not see.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/render/render.h"

namespace tracewell::report {
namespace {

constexpr size_t kWordsMax = 512;  // shown; 4096 bytes is what one generic entry holds

template <class... Args>
void put(Line& line, fmt::format_string<Args...> format, Args&&... args) {
  constexpr size_t kLongest = 160;
  char* to = line.item(kLongest);
  const auto end = fmt::format_to_n(to, kLongest, format, std::forward<Args>(args)...);
  line.commit(std::min(end.size, kLongest));
}

/// The data behind the hook word by words; of a last one that is not whole the bytes in order.
void put_word(const Entry& entry, Line& line, size_t offset) {
  const size_t size = std::min(entry.word_bytes(), entry.buffer.size() - offset);
  const bool bytes = size < entry.word_bytes() || (entry.generic && offset > entry.word_bytes());
  if (!bytes) {
    put(line, "{:0{}X}", entry.number_at(offset, size), size * 2);
    return;
  }
  for (size_t i = 0; i < size; ++i) put(line, "{:02X}", entry.buffer[offset + i]);
}

}  // namespace

void print_raw(Context& context) {
  const Entry& entry = *context.entry;
  Line& line = context.line;
  const bool small = entry.environment_bits == 32;
  put(line, "UNDEFINED TRACE ID idx 0x{:x}", entry.log_offset);
  line.new_line();
  if (small) {
    put(line, "traceid {:03X} hookword {:08X} type {:X}", entry.hook >> 4, entry.stored_hookword,
        entry.type);
  } else {
    put(line, "traceid {:04X} hookword {:016X} type {:04X}", entry.hook, entry.stored_hookword,
        entry.type);
  }
  line.new_line();
  put(line, "hookdata {:04X}", entry.hook_data());
  size_t words = 0;
  const size_t word = entry.word_bytes();
  for (size_t offset = word; offset < entry.buffer.size(); offset += word, ++words) {
    if (words == kWordsMax) {
      line.new_line();
      put(line, "… {} bytes more", entry.buffer.size() - offset);
      return;
    }
    // The first beside the hook data, then two a line.
    if (words % 2 == 1)
      line.new_line();
    else
      line.owe();
    put_word(entry, line, offset);
  }
}

}  // namespace tracewell::report
