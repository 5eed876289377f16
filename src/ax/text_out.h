// Text into a buffer of fixed size, the way snprintf does it, without libc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracewell::ax {

/// Appends to a caller's buffer, which always ends in NUL (unless its size is 0). What does not
/// fit is cut; length() is that of what was kept.
class TextOut {
 public:
  TextOut(char* buffer, size_t size) : buffer_(buffer), size_(size) {
    if (size_ > 0) buffer_[0] = 0;
  }

  void character(char c) {
    if (length_ + 1 >= size_) return;
    buffer_[length_++] = c;
    buffer_[length_] = 0;
  }
  void text(const char* text) {
    for (; *text != 0; ++text) character(*text);
  }
  void decimal(uint64_t value) {
    char digits[20];
    size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    while (count > 0) character(digits[--count]);
  }
  void hex_byte(uint8_t value) {
    character("0123456789abcdef"[value >> 4]);
    character("0123456789abcdef"[value & 15]);
  }
  size_t length() const { return length_; }

 private:
  char* buffer_;
  size_t size_;
  size_t length_ = 0;
};

}  // namespace tracewell::ax
