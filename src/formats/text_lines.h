// A mapped text, line by line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/files/file.h"

namespace tracewell::formats {

/// Hands out the lines of a file, and lets go of the memory behind itself.
class TextLines {
 public:
  explicit TextLines(std::shared_ptr<InputFile> file) : file_(std::move(file)) {}

  bool done() const { return offset_ >= file_->bytes().size(); }
  /// Where the next line begins, in bytes.
  size_t offset() const { return offset_; }
  /// The number of the line that take() gave last, from 1.
  uint64_t number() const { return number_; }
  const InputFile& file() const { return *file_; }

  /// Without its line end (LF or CR LF), empty if it is blank. Lives as long as the file. One of
  /// more than `bytes_max` bytes is empty, and is_long(): it may be holes.
  std::string_view take(size_t bytes_max = SIZE_MAX) {
    const std::string_view rest = as_text(file_->bytes()).substr(offset_);
    const size_t room = std::min(rest.size(), bytes_max);
    const size_t length = std::min(rest.substr(0, room).find('\n'), room);
    ++number_;
    is_long_ = length == room && room < rest.size() && rest[room] != '\n';
    if (is_long_) {
      skip(room);
      return {};
    }
    offset_ += std::min(length + 1, rest.size());
    std::string_view line = rest.substr(0, length);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) line = {};
    return line;
  }

  /// Was the line that take() gave last too long?
  bool is_long() const { return is_long_; }

  /// What stands before offset() is not needed for now.
  void forget() {
    if (offset_ - forgotten_ <= kForgetBytes) return;
    file_->forget(forgotten_, offset_ - forgotten_);
    forgotten_ = offset_;
  }

 private:
  static constexpr size_t kForgetBytes = 32 << 20;
  static constexpr size_t kSearchedMax = 1 << 30;  // of a file, for the ends of long lines

  /// Behind the line, of which `searched` bytes are known; behind all, where that is too far off.
  void skip(size_t searched) {
    const std::string_view text = as_text(file_->bytes());
    for (size_t at = offset_ + searched; at < text.size() && searched_ < kSearchedMax;) {
      const std::string_view piece = text.substr(at, kForgetBytes);
      searched_ += piece.size();
      if (const size_t end = piece.find('\n'); end != std::string_view::npos) {
        offset_ = at + end + 1;
        return;
      }
      file_->forget(at, piece.size());
      at += piece.size();
    }
    offset_ = text.size();
  }

  std::shared_ptr<InputFile> file_;
  size_t offset_ = 0;
  size_t forgotten_ = 0, searched_ = 0;
  bool is_long_ = false;
  uint64_t number_ = 0;
};

}  // namespace tracewell::formats
