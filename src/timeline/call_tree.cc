#include "timeline/call_tree.h"

#include <algorithm>
#include <map>
#include <optional>

#include "machine/call_stack.h"
#include "timeline/transfers.h"

namespace tracewell::timeline {
namespace {

using machine::Flow;

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
  }
  void take(const Segment& segment);

 private:
  std::vector<Arrival> arrivals(const Segment& segment);
  void arrive(uint64_t base, const Arrival& arrival);

  struct Stack {
    std::vector<size_t> calls;
    machine::CallStack backs;
  };
  std::map<uint64_t, Stack> stacks_;                // by thread
  std::map<uint64_t, ThreadEnds> left_;             // how threads left the last segment
  std::map<uint64_t, uint64_t> behind_;             // the step behind each thread's last
};

/// Those of the segment, and those that began in the one before it.
std::vector<Arrival> CallTree::arrivals(const Segment& segment) {
  std::vector<uint64_t> tids;
  std::vector<Arrival> out;
  segment.table(Part::Threads).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
    tids.push_back(item.key);
    const auto thread = read_thread(item.stream);
    if (const auto last = thread ? thread->steps.last(UINT64_MAX) : std::nullopt)
      behind_[item.key] = segment.first + *last + 1;
    const auto first = thread && thread->ends ? thread->steps.next(0) : std::nullopt;
    if (!first) return true;
    const ThreadEnds& now = *thread->ends;
    const auto before = left_.find(item.key);
    machine::FlowInstruction flow = {0, Flow::Onward};
    if (before != left_.end() && !before->second.lost_behind && !now.lost_before)
      flow = before->second.last_flow;
    if (flow.flow == Flow::Call || flow.flow == Flow::Return) {
      const bool call = flow.flow == Flow::Call;
      out.push_back({item.key, {*first, 0, !call, now.first_pc,
                                call ? before->second.last_pc + flow.length : 0}});
    }
    left_[item.key] = now;
    return true;
  });
  TransferReader reader(segment.parts[static_cast<size_t>(Part::Transfers)]);
  for (Transfer one; reader.next(one);)
    if (one.thread < tids.size()) out.push_back({tids[one.thread], one});
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

std::vector<Call> call_tree(const Timeline& timeline) {
  CallTree tree;
  uint64_t session = 0;
  for (const Segment& segment : timeline.whole_index().segments) {
    if (segment.session != session) tree.end_session();
    session = segment.session;
    tree.take(segment);
  }
  tree.end_session();
  return std::move(tree.calls);
}

}  // namespace tracewell::timeline
