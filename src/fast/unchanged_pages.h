// Pages of a program in which there is nothing of ours, such as a breakpoint: what hits have
// collected there is as the program has it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

namespace tracewell::fast {

class UnchangedPages {
 public:
  static constexpr uint64_t kPage = 4096;
  /// Is there something of ours in these bytes?
  using Ask = std::function<bool(uint64_t address, uint64_t bytes)>;

  explicit UnchangedPages(Ask ask) : ask_(std::move(ask)) {}

  /// Nothing is known any more but that all of ours is within this range.
  void forget(std::pair<uint64_t, uint64_t> changed) {
    from_ = changed.first, to_ = changed.second;
    known_ = {};
  }
  /// Do these bytes lie in such pages alone? Each page is asked about once.
  bool hold(uint64_t address, uint64_t bytes) {
    const bool meets = address < to_ && (address >= from_ || from_ - address < bytes);
    if (!meets || bytes == 0) return true;
    const uint64_t page = address / kPage;
    if (known_[page % known_.size()] == page + 1 && bytes <= kPage - address % kPage) return true;
    return look(address, bytes);
  }

 private:
  static constexpr uint64_t kLooksMax = 4;  // of what is larger than that only the bytes are asked
  bool look(uint64_t address, uint64_t bytes) {
    const uint64_t first = address / kPage, last = (address + bytes - 1) / kPage;
    if (last < first) return false;  // past the end of all addresses
    if (last - first >= kLooksMax) return !ask_(address, bytes);
    for (uint64_t page = first; page <= last; ++page) {
      uint64_t& known = known_[page % known_.size()];
      if (known != page + 1 && ask_(page * kPage, kPage)) return false;
      known = page + 1;
    }
    return true;
  }

  Ask ask_;
  uint64_t from_ = 0, to_ = 0;
  std::array<uint64_t, 64> known_{};  // numbers of pages, plus 1
};

}  // namespace tracewell::fast
