#include "report/render/timers.h"

namespace tracewell::report {

size_t Timers::place_of(uint64_t a, uint64_t b) {
  uint64_t mixed = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 29;
  return (mixed * 0xbf58476d1ce4e5b9 >> 52) * kPairs;
}

Timers::Pair* Timers::pairs() const { return reinterpret_cast<Pair*>(memory_.data()); }

void Timers::start(uint64_t a, uint64_t b, int64_t time_ns) {
  static_assert(kPlaces == size_t{1} << (64 - 52));
  if (memory_.size() == 0) memory_ = ZeroedBytes(kPlaces * kPairs * sizeof(Pair));
  Pair* const first = pairs() + place_of(a, b);
  Pair* chosen = first;
  for (Pair* pair = first; pair != first + kPairs; ++pair) {
    if (pair->used && pair->a == a && pair->b == b) {
      chosen = pair;
      break;
    }
    if (chosen->used && (!pair->used || pair->time_ns < chosen->time_ns)) chosen = pair;
  }
  *chosen = {a, b, time_ns, true};
}

std::optional<int64_t> Timers::started(uint64_t a, uint64_t b) const {
  if (memory_.size() == 0) return std::nullopt;
  const Pair* const first = pairs() + place_of(a, b);
  for (const Pair* pair = first; pair != first + kPairs; ++pair)
    if (pair->used && pair->a == a && pair->b == b) return pair->time_ns;
  return std::nullopt;
}

}  // namespace tracewell::report
