#include "agent/fast/thread_numbers.h"

namespace tracewell::agent {

void ThreadNumbers::add(int64_t tid, int64_t own) {
  if (own == tid) {
    own_.erase(tid);
    if (!here_.empty()) here_[static_cast<uint32_t>(own)] = tid;
    return;
  }
  own_[tid] = static_cast<uint32_t>(own);
  here_[static_cast<uint32_t>(own)] = tid;
}

void ThreadNumbers::end(int64_t tid) {
  const auto found = own_.find(tid);
  if (found == own_.end()) return;
  ended_.emplace_back(found->second, tid);
  own_.erase(found);
  if (ended_.size() <= kEndedMax) return;
  const auto [own, here] = ended_.front();
  ended_.pop_front();
  // Another thread may have the number by now, or both of them.
  const auto first = here_.find(own);
  if (first != here_.end() && first->second == here && this->own(here) != own) here_.erase(first);
}

uint32_t ThreadNumbers::own(int64_t tid) const {
  const auto found = own_.find(tid);
  return found != own_.end() ? found->second : static_cast<uint32_t>(tid);
}

int64_t ThreadNumbers::here(uint32_t own) const {
  if (here_.empty()) return own;
  const auto found = here_.find(own);
  return found != here_.end() ? found->second : 0;
}

}  // namespace tracewell::agent
