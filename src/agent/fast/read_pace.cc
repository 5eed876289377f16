#include "agent/fast/read_pace.h"

namespace tracewell::agent {
namespace {

using namespace std::chrono_literals;

/// All the time, often, and for how long rings are read so once they have filled up.
constexpr std::chrono::microseconds kAlways = 20us, kOften = 500us, kWithTicks = 0us;
constexpr auto kAlwaysFor = 100ms, kOftenFor = 5000ms;
/// Much may come at once as a program goes on: then they are read often for so long at least.
constexpr auto kAtFirst = 500ms;
/// Bytes are counted over the half of a tick: in less, one hit would be much.
constexpr auto kTick = 10ms, kCountedOver = kTick / 2;

}  // namespace

std::chrono::microseconds ReadPace::after_read(Time now, uint64_t bytes_read,
                                               uint64_t ring_bytes) {
  const auto took = now - looked_at_;
  if (took > kAtFirst) {  // nobody read: the program stood still
    full_at_ = now + kAtFirst - kOftenFor;
    looked_at_ = now;
    bytes_before_ = bytes_read;
  } else if (took >= kCountedOver) {
    // What comes between two ticks would fill an eighth of a ring.
    const uint64_t bytes = bytes_read - bytes_before_;
    if (bytes * kTick > took * (ring_bytes / 8)) full_at_ = now;
    looked_at_ = now;
    bytes_before_ = bytes_read;
  }
  if (now > full_at_ + kOftenFor) return kWithTicks;
  return now > full_at_ + kAlwaysFor ? kOften : kAlways;
}

}  // namespace tracewell::agent
