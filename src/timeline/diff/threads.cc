#include "timeline/diff/threads.h"

#include <algorithm>
#include <cstdint>

namespace tracewell::timeline {
namespace {

/// No thread can have begun before this one without anybody seeing it. (What has eaten steps may
/// have made up the thread of the one in front of them.)
bool is_in_order(const FlowThreads::Thread& thread, const HoleList& holes) {
  return holes.behind().empty() || thread.first + 1 < holes.behind().front();
}

}  // namespace

Result<std::optional<ThreadNumbers>> ThreadPairs::next() {
  if (!rest_) {
    TW_ASSIGN_OR_RETURN(const FlowThreads::Thread* one, threads_a_.thread(number_));
    TW_ASSIGN_OR_RETURN(const FlowThreads::Thread* other, threads_b_.thread(number_));
    if (one != nullptr && other != nullptr && is_in_order(*one, holes_a_) &&
        is_in_order(*other, holes_b_)) {
      const size_t number = number_++;
      return std::optional(ThreadNumbers{number, number});
    }
    TW_RETURN_IF_ERROR(match_rest());
  }
  if (at_ == rest_->size()) return std::optional<ThreadNumbers>();
  return std::optional((*rest_)[at_++]);
}

Status ThreadPairs::match_rest() {
  TW_ASSIGN_OR_RETURN(const size_t count_a, threads_a_.count());
  TW_ASSIGN_OR_RETURN(const size_t count_b, threads_b_.count());
  std::vector<ThreadNumbers> same;
  for (size_t a = number_; a < count_a; ++a) {
    TW_ASSIGN_OR_RETURN(const FlowThreads::Thread* thread, threads_a_.thread(a));
    const std::optional<size_t> b = threads_b_.number_of(thread->tid);
    same.push_back({a, b && *b >= number_ ? b : std::nullopt});
  }
  const auto common = static_cast<size_t>(
      std::ranges::count_if(same, [](const ThreadNumbers& one) { return one.b.has_value(); }));
  const size_t fewer = std::min(count_a, count_b) - number_;
  const bool holed = !holes_a_.behind().empty() || !holes_b_.behind().empty();
  const bool by_id = holed && common != 0 && 2 * common >= fewer;
  std::vector<bool> taken(count_b, false);
  for (ThreadNumbers& one : same) {
    if (!by_id) one.b = *one.a < count_b ? one.a : std::nullopt;
    if (one.b) taken[*one.b] = true;
  }
  for (size_t b = number_; b < count_b; ++b)
    if (!taken[b]) same.push_back({std::nullopt, b});
  rest_ = std::move(same);
  return {};
}

}  // namespace tracewell::timeline
