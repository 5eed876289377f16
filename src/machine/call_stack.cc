#include "machine/call_stack.h"

namespace tracewell::machine {

CallStack::Arrival CallStack::call(uint64_t to, uint64_t back) {
  if (to == back) return Arrival::Nowhere;
  if (too_deep_ != 0 || backs_.size() >= most_) {
    ++too_deep_;
    return Arrival::TooDeep;
  }
  backs_.push_back(back);
  ++waiting_[back];
  return Arrival::Entered;
}

size_t CallStack::come_back(uint64_t to) {
  if (too_deep_ != 0) {
    --too_deep_;
    return 0;
  }
  if (!waiting_.contains(to)) return 0;
  for (size_t ended = 1;; ++ended) {
    const uint64_t back = backs_.back();
    backs_.pop_back();
    const auto waiting = waiting_.find(back);
    if (--waiting->second == 0) waiting_.erase(waiting);
    if (back == to) return ended;
  }
}

}  // namespace tracewell::machine
