// How much work searches may take in what addresses are called. An image of kilobytes may have
// names for so many steps that they are megabytes, so what each search may take is not enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tracewell::filter {

/// Time of a processor. What a search takes at worst, the pattern's states times the text's bytes,
/// says little of what it takes: a byte is a nanosecond for most patterns, whatever their states
/// (measured: 0.1 to 1.3 ns), and up to 16 ns for each state for the worst. So long searches are
/// timed, and only patterns of that sort ever use the budget up. Used by one thread at a time.
class SearchBudget {
 public:
  static constexpr int64_t kFirstNs = 10'000'000'000;
  /// For each question about an address, also where the answer is remembered: the whole stays in
  /// proportion to the trace.
  static constexpr int64_t kEachNs = 160'000;
  /// States times bytes of a search that takes no longer than that, whatever it searches.
  static constexpr uint64_t kShort = uint64_t{16} << 10;

  void asked() { left_ns_ += kEachNs; }
  /// How many of these bytes may be searched: all, or what a short search may have. `states` is not
  /// 0.
  size_t allowed(size_t bytes, size_t states) const {
    if (left_ns_ > 0) return bytes;
    return std::min<size_t>(bytes, kShort / states);
  }
  static bool is_timed(size_t bytes, size_t states) { return uint64_t{states} * bytes > kShort; }
  void spend(int64_t ns) { left_ns_ -= ns; }

 private:
  int64_t left_ns_ = kFirstNs;
};

}  // namespace tracewell::filter
