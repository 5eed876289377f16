// ThreadStates: the registers of any number of threads at once. A few threads have theirs whole; of
// the others, what a step costs, and what is kept, is what the steps have told.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/bytes.h"
#include "model/registers.h"

namespace tracewell::timeline {

class ThreadStates {
  static constexpr size_t kPageBytes = 64;
  using Page = std::array<uint8_t, kPageBytes>;
  /// Of a block, and of the bits behind it that say which registers are known.
  struct PagePlace {
    uint32_t page = 0;    // where in these
    uint32_t number = 0;  // in pages_
  };
  using Pages = std::vector<PagePlace>;  // ascending

 public:
  static constexpr uint32_t kWhole = 64;
  /// Nobody has a larger block whole: there may be a segment for every step, and all threads of a
  /// trace may take turns.
  static constexpr uint32_t kWholeBytesMax = 16384;

  /// One thread's.
  class State {
   public:
    bool is_valid(uint32_t index) const {
      return whole_ != nullptr ? whole_->is_valid(index) : all_.is_valid(*pages_, index);
    }
    /// Is this what a register holds that is known?
    bool holds(uint32_t index, Bytes value) const {
      if (whole_ == nullptr) return all_.holds(*pages_, index, value);
      const uint32_t offset = all_.layout_.registers[index].offset;
      return std::equal(value.begin(), value.end(), whole_->block.begin() + offset);
    }
    /// `value` has the register's size, or is empty: not known.
    void set(uint32_t index, Bytes value) {
      if (whole_ != nullptr) return whole_->set(all_.layout_, index, value);
      all_.set(*pages_, index, value);
    }

   private:
    friend class ThreadStates;
    State(ThreadStates& all, RegisterState* whole, Pages* pages)
        : all_(all), whole_(whole), pages_(pages) {}
    ThreadStates& all_;
    RegisterState* whole_;  // nullptr = in pages
    Pages* pages_;
  };

  /// `layout` must outlive it.
  explicit ThreadStates(const RegisterLayout& layout)
      : layout_(layout), whole_max_(layout.size_bytes <= kWholeBytesMax ? kWhole : 0) {}

  /// Of thread `number`, which is at most one more than those before; nothing is known of a new
  /// one. Stays until the next call.
  State of(uint32_t number) {
    if (number < whole_.size()) return {*this, &whole_[number], nullptr};
    return other(number);
  }
  /// Memory taken, roughly.
  size_t size_bytes() const {
    return whole_.size() * state_bytes() + pages_.size() * (kPageBytes + 2 * sizeof(PagePlace)) +
           paged_.size() * (sizeof(Pages) + 32);
  }

 private:
  size_t state_bytes() const { return layout_.size_bytes + layout_.registers.size() / 8 + 64; }
  State other(uint32_t number);
  const Page* find(const Pages& pages, uint64_t page) const;
  Page& add(Pages& pages, uint64_t page);
  uint64_t place_of_bit(uint32_t index) const { return uint64_t{layout_.size_bytes} + index / 8; }
  bool is_valid(const Pages& pages, uint32_t index) const;
  bool holds(const Pages& pages, uint32_t index, Bytes value) const;
  void set(Pages& pages, uint32_t index, Bytes value);

  const RegisterLayout& layout_;
  const uint32_t whole_max_;
  std::vector<RegisterState> whole_;
  std::vector<Pages> paged_;  // those of the other threads
  std::deque<Page> pages_;    // of all of them
};

}  // namespace tracewell::timeline
