// A mapped text, line by line.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/file.h"

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

  /// Without its line end (LF or CR LF), empty if it is blank. Lives as long as the file.
  std::string_view take() {
    const std::string_view rest = as_text(file_->bytes()).substr(offset_);
    const size_t length = std::min(rest.find('\n'), rest.size());
    offset_ += std::min(length + 1, rest.size());
    ++number_;
    std::string_view line = rest.substr(0, length);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) line = {};
    return line;
  }

  /// What stands before offset() is not needed for now.
  void forget() {
    if (offset_ - forgotten_ <= kForgetBytes) return;
    file_->forget(forgotten_, offset_ - forgotten_);
    forgotten_ = offset_;
  }

 private:
  static constexpr size_t kForgetBytes = 32 << 20;
  std::shared_ptr<InputFile> file_;
  size_t offset_ = 0;
  size_t forgotten_ = 0;
  uint64_t number_ = 0;
};

}  // namespace tracewell::formats
