// Batch: a run of events and the memory their payloads live in.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "model/event.h"

namespace tracewell {

/// Owns events and their payloads. clear() keeps the memory, so that a loop over batches does not
/// allocate once it is warm. Not shared between threads.
class Batch {
 public:
  Event& add() { return events_.emplace_back(); }
  /// In front of event `at`. Costs a look at all that come behind it.
  Event& insert(size_t at) {
    return *events_.emplace(events_.begin() + static_cast<ptrdiff_t>(at));
  }
  std::span<Event> events() { return events_; }
  std::span<const Event> events() const { return events_; }
  bool empty() const { return events_.empty(); }
  size_t size() const { return events_.size(); }
  void clear();
  /// Drops the events that `keep(const Event&)` says no to; payloads stay until clear().
  template <class Keep>
  void keep_if(Keep&& keep) {
    std::erase_if(events_, [&](const Event& event) { return !keep(event); });
  }

  /// Copies into the arena; the result lives until clear().
  Bytes copy(Bytes bytes) { return copy_array(bytes); }
  std::string_view copy(std::string_view text);
  template <class T>
  std::span<const T> copy_array(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (items.empty()) return {};
    const std::span<T> to = array<T>(items.size());
    copy_bytes(to.data(), items.data(), items.size_bytes());
    return to;
  }
  /// Room for so many items, for the caller to fill.
  template <class T>
  std::span<T> array(size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    return {static_cast<T*>(allocate(count * sizeof(T), alignof(T))), count};
  }
  /// With all that it points at.
  Change copy(const Change& change);
  /// For what is seldom, and no row of bytes: it lives until clear().
  template <class T>
  const T* keep(T value) {
    auto kept = std::make_shared<const T>(std::move(value));
    const T* const out = kept.get();
    hold(std::move(kept));
    return out;
  }
  /// Keeps `owner` alive until clear(): for payloads that are spans into a mapped file.
  void hold(std::shared_ptr<const void> owner);

 private:
  void* allocate(size_t size, size_t alignment) {
    const size_t at = (used_ + alignment - 1) & ~(alignment - 1);
    if (chunk_ >= chunks_.size() || at + size > chunks_[chunk_].size)
      return allocate_elsewhere(size, alignment);
    used_ = at + size;
    return chunks_[chunk_].data.get() + at;
  }
  void* allocate_elsewhere(size_t size, size_t alignment);
  struct Chunk {
    std::unique_ptr<uint8_t[]> data;
    size_t size = 0;
  };
  std::vector<Event> events_;
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0;  // the one being filled
  size_t used_ = 0;   // bytes of it
  std::vector<std::shared_ptr<const void>> held_;
};

}  // namespace tracewell
