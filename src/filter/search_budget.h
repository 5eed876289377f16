// How much work searches may take in what addresses are called. An image of kilobytes may have
// names for so many steps that they are megabytes, so what each search may take is not enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tracewell::filter {

/// Work is states of the pattern times bytes of the text: what a search takes at worst, and mostly
/// far more than it takes. Used by one thread at a time.
class SearchBudget {
 public:
  /// Some seconds at worst.
  static constexpr uint64_t kFirst = uint64_t{1} << 30;
  /// For each question about an address, also where the answer is remembered: the whole stays in
  /// proportion to the trace, and names and patterns as people write them never use it up.
  static constexpr uint64_t kEach = uint64_t{16} << 10;

  void asked() { left_ += kEach; }
  /// How many of these bytes may be searched: all, or what a question brings. `states` is not 0.
  size_t take(size_t bytes, size_t states) {
    if (uint64_t{states} * bytes > left_) bytes = std::min<size_t>(bytes, kEach / states);
    left_ -= std::min(left_, uint64_t{states} * bytes);
    return bytes;
  }

 private:
  uint64_t left_ = kFirst;
};

}  // namespace tracewell::filter
