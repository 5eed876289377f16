#include "timeline/calls/call_tree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "machine/call_stack.h"
#include "timeline/calls/call_marks.h"
#include "timeline/calls/transfers.h"

namespace tracewell::timeline {
namespace {

struct Arrival {
  uint64_t tid = 0;
  Transfer transfer;
};

class CallTree {
 public:
  std::vector<Call> calls;

  void end_session() {
    for (const auto& [tid, stack] : stacks_)
      for (size_t call : stack.calls) calls[call].end = behind_[tid];
    stacks_.clear();
    left_.clear();
    behind_.clear();
    loss_ = 0;
  }
  void take(const Segment& segment);

 private:
  std::vector<Arrival> arrivals(const Segment& segment);
  void arrive(uint64_t base, const Arrival& arrival);

  struct Stack {
    std::vector<size_t> calls;
    machine::CallStack backs;
  };
  std::map<uint64_t, Stack> stacks_;      // by thread
  std::map<uint64_t, ThreadEnds> left_;   // how threads left the last segment
  std::map<uint64_t, uint64_t> behind_;   // the step behind each thread's last
  uint64_t loss_ = 0;                     // the step behind the last loss
};

/// Those of the segment, and those that began in the one before it.
std::vector<Arrival> CallTree::arrivals(const Segment& segment) {
  std::vector<Arrival> out;
  segment.table(Part::Threads).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
    const auto thread = read_thread(item.stream);
    uint64_t behind = 0;
    if (const auto last = thread ? thread->steps.last(UINT64_MAX) : std::nullopt)
      behind = std::exchange(behind_[item.key], segment.first + *last + 1);
    const auto first = thread && thread->ends ? thread->steps.next(0) : std::nullopt;
    if (!first) return true;
    const ThreadEnds& now = *thread->ends;
    const auto before = left_.find(item.key);
    if (before != left_.end() && behind > loss_)
      if (const auto arrival = arrival_between(before->second, now, *first))
        out.push_back({item.key, *arrival});
    left_[item.key] = now;
    return true;
  });
  const size_t most = out.size() + segment.count;
  std::vector<Transfer> of_thread;
  segment.table(Part::Transfers).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
    const Transfers transfers(item.stream);
    of_thread.clear();
    // No step has more than one: so a few bytes do not become many calls.
    for (size_t i = 0; i < transfers.chunks() && out.size() + of_thread.size() < most; ++i)
      if (!transfers.read(i, of_thread)) {
        item.stream.tell_damage();
        break;
      }
    for (const Transfer& one : of_thread) out.push_back({item.key, one});
    return true;
  });
  if (segment.loss_end != 0) loss_ = segment.first + segment.loss_end - 1;
  std::sort(out.begin(), out.end(), [](const Arrival& a, const Arrival& b) {
    return a.transfer.step < b.transfer.step;
  });
  return out;
}

void CallTree::take(const Segment& segment) {
  for (const Arrival& arrival : arrivals(segment)) arrive(segment.first, arrival);
}

void CallTree::arrive(uint64_t base, const Arrival& arrival) {
  Stack& stack = stacks_[arrival.tid];
  const uint64_t step = base + arrival.transfer.step;
  if (!arrival.transfer.is_return) {
    if (stack.backs.call(arrival.transfer.to, arrival.transfer.back) !=
        machine::CallStack::Arrival::Entered)
      return;
    Call call;
    call.tid = arrival.tid;
    call.function = arrival.transfer.to;
    call.back = arrival.transfer.back;
    call.first = step;
    call.depth = static_cast<uint32_t>(stack.calls.size());
    if (!stack.calls.empty()) call.parent = stack.calls.back();
    stack.calls.push_back(calls.size());
    calls.push_back(call);
    return;
  }
  for (size_t ended = stack.backs.come_back(arrival.transfer.to); ended > 0; --ended) {
    Call& call = calls[stack.calls.back()];
    call.end = step;
    call.returned = ended == 1;
    stack.calls.pop_back();
  }
}

}  // namespace

std::vector<Call> call_tree(const Timeline& timeline, const Work& work) {
  std::vector<Call> out;
  timeline.whole_index([&](const Index& index) {
    CallTree tree;
    uint64_t session = 0;
    for (const Segment& segment : index.segments) {
      if (segment.session != session) tree.end_session();
      session = segment.session;
      if (work.is_stopped()) break;
      tree.take(segment);
    }
    tree.end_session();
    out = std::move(tree.calls);
  });
  return out;
}

}  // namespace tracewell::timeline
