// TraceIndex: where each frame of a trace buffer is, and what it can be found by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracewell::agent {

/// What is known of a frame beside its bytes. Thread and time have no place in a frame's encoding.
struct FrameRecord {
  uint64_t at = 0;  // of the header: bytes ever written to the buffer before it
  uint64_t pc = 0;
  int64_t time_ns = 0;  // Unix epoch
  int32_t tid = 0;
  uint32_t size = 0;  // of the data, without the header
  int16_t tracepoint = 0;
};

/// A queue of records in one block of memory that doubles when it is full and is kept when records
/// go: a circular buffer, once warm, allocates nothing.
class TraceIndex {
 public:
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const FrameRecord& operator[](size_t i) const {
    return slots_[(first_ + i) & (slots_.size() - 1)];
  }
  const FrameRecord& front() const { return slots_[first_]; }

  void push_back(const FrameRecord& record) {
    if (count_ == slots_.size()) grow();
    slots_[(first_ + count_++) & (slots_.size() - 1)] = record;
  }
  void pop_front() {
    first_ = (first_ + 1) & (slots_.size() - 1);
    --count_;
  }
  void clear() { *this = {}; }

 private:
  void grow() {
    std::vector<FrameRecord> bigger(slots_.empty() ? 64 : slots_.size() * 2);
    for (size_t i = 0; i < count_; ++i) bigger[i] = (*this)[i];
    slots_ = std::move(bigger);
    first_ = 0;
  }
  std::vector<FrameRecord> slots_;  // a power of two
  size_t first_ = 0;
  size_t count_ = 0;
};

}  // namespace tracewell::agent
