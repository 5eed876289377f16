// base/freestanding: no libc, no allocation.
// Which ring a file of trace hooks is, and which stream its packets are of: alike for those who
// collect rings and those who read them.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <string_view>

namespace tracewell::ring {

/// The number that all of `text` is, if it is none above `max`.
inline bool take_decimal(std::string_view text, uint32_t max, uint32_t& number) {
  uint64_t value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return false;
    value = value * 10 + static_cast<uint64_t>(digit - '0');
    if (value > max) return false;
  }
  number = static_cast<uint32_t>(value);
  return !text.empty();
}

/// A ring has its own number and its process's in its file's name (PID-NUMBER), which only its user
/// can give. In its memory a process that gave up its rights may have written others: `head` gets
/// those of the name. false: that is no ring's.
inline bool take_ring_name(std::string_view name, tracewell_ring& head) {
  const size_t dash = name.find('-');
  uint32_t pid = 0, number = 0;
  if (dash == std::string_view::npos || !take_decimal(name.substr(0, dash), INT32_MAX, pid) ||
      !take_decimal(name.substr(dash + 1), UINT32_MAX, number) || pid == 0)
    return false;
  head.pid = pid;
  head.number = number;
  return true;
}

/// Where a ring says that it is of the stream of another, its packets are of this one instead. It
/// follows from what the ring is: the steps of SplitMix64 (Steele, Lea and Flood, 2014).
inline uint64_t next_hook_stream(uint64_t stream, uint32_t pid, uint32_t number) {
  uint64_t mixed = stream - number + 0x9e3779b97f4a7c15 + (uint64_t{pid} << 32 | number);
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return (mixed ^ mixed >> 31) + number;
}

/// What the stream of a ring is in a log, given what it says itself. Where the log has packets of
/// the ring under a stream that follows from that, it is this one, whoever has the others: what
/// made a collector take it may have gone from the log since. Otherwise it is the first one that no
/// other ring has, nor the marks (0). `owner(stream)` says whose a stream is in the log.
enum class StreamOwner : uint8_t { Nobody, ThisRing, Another };
template <class Owner>
uint64_t hook_stream_in_log(uint64_t stream, uint32_t pid, uint32_t number, const Owner& owner) {
  constexpr int kFollowed = 64;  // far more than rings ever say that they are this one
  uint64_t next = stream;
  for (int i = 0; i < kFollowed; ++i, next = next_hook_stream(next, pid, number))
    if (next != 0 && owner(next) == StreamOwner::ThisRing) return next;
  while (stream == 0 || owner(stream) == StreamOwner::Another)
    stream = next_hook_stream(stream, pid, number);
  return stream;
}

}  // namespace tracewell::ring
