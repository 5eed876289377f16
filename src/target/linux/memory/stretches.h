// Stretches of memory, none over another: what is known of a place, or of what is around it, is
// found without a look at all of them.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace tracewell::target::live {

template <typename T>
class Stretches {
 public:
  struct Stretch {
    uint64_t size = 0;
    T what;
  };
  using All = std::map<uint64_t, Stretch>;  // by where they start

  void put(uint64_t start, uint64_t size, T what) { all_[start] = {size, std::move(what)}; }
  void erase(uint64_t start) { all_.erase(start); }
  const All& all() const { return all_; }
  bool empty() const { return all_.empty(); }

  /// The one that the place is in, or nullptr.
  const T* at(uint64_t place) const {
    const T* found = nullptr;
    each_meeting(place, 1, [&](uint64_t, const T& what) { found = &what; });
    return found;
  }
  T* at(uint64_t place) { return const_cast<T*>(std::as_const(*this).at(place)); }
  bool meet(uint64_t address, uint64_t bytes) const {
    bool any = false;
    each_meeting(address, bytes, [&](uint64_t, const T&) { any = true; });
    return any;
  }
  /// Calls do_it(start, what) for each that has a byte in the range.
  template <typename Do>
  void each_meeting(uint64_t address, uint64_t bytes, const Do& do_it) const {
    if (bytes == 0) return;
    auto it = all_.upper_bound(address);
    if (it != all_.begin()) {
      const auto before = std::prev(it);
      ++looked_at_;
      if (address - before->first < before->second.size) do_it(before->first, before->second.what);
    }
    for (; it != all_.end() && it->first - address < bytes; ++it) {
      ++looked_at_;
      do_it(it->first, it->second.what);
    }
  }

  /// So many stretches have been looked at, for all answers together.
  uint64_t looked_at() const { return looked_at_; }

 private:
  All all_;
  mutable uint64_t looked_at_ = 0;
};

}  // namespace tracewell::target::live
