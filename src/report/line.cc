#include "report/line.h"

#include <algorithm>

namespace tracewell::report {

void TextBuffer::grow(size_t size) {
  const size_t capacity = std::max<size_t>({4096, capacity_ * 2, size_ + size});
  auto data = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ != 0) std::memcpy(data.get(), data_.get(), size_);
  data_ = std::move(data);
  capacity_ = capacity;
}

void Line::outside(std::string_view text) {
  if (text.empty()) return;
  pay(text[0]);
  char* to = out_.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    *to++ = byte < 0x20 || byte == 0x7f ? '.' : c;
  }
  out_.commit(text.size());
}

void Line::fault(std::string_view what) {
  text("***");
  if (faults_++ == 0) {
    text(" ");
    text(what);
  }
  owe();
}

}  // namespace tracewell::report
