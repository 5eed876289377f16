#include "formats/steps/call_tree.h"

#include <utility>

namespace tracewell::formats {

using machine::Flow;

size_t CallTree::Hash::operator()(const Key& key) const {
  uint64_t mixed = (key.address ^ uint64_t{key.parent} << 32) * 0x9e3779b97f4a7c15;
  return mixed ^ mixed >> 29;
}

uint32_t CallTree::node(uint32_t parent, uint64_t address) {
  if (const auto found = index_.find({parent, address}); found != index_.end())
    return found->second;
  if (nodes_.size() >= kNodesMax) {
    ++cut_;
    return parent == kNoParent ? 0 : parent;
  }
  const auto made = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({parent, address, 0});
  index_.emplace(Key{parent, address}, made);
  return made;
}

void CallTree::enter(Thread& thread, uint64_t address) {
  using Arrival = machine::CallStack::Arrival;
  const Arrival arrival = thread.calls.call(address, thread.behind_last);
  if (arrival == Arrival::TooDeep) ++cut_;
  if (arrival == Arrival::Entered) thread.nodes.push_back(node(thread.nodes.back(), address));
}

void CallTree::leave(Thread& thread, uint64_t tid, uint64_t to) {
  const bool lowest = thread.calls.depth() == 0;
  thread.nodes.resize(thread.nodes.size() - thread.calls.come_back(to));
  // It was left for a caller that the recording has not seen.
  if (lowest) thread.nodes[0] = node(node(kNoParent, tid), to);
}

void CallTree::step(uint64_t tid, const Step& step) {
  Thread& thread = threads_[tid];
  if (std::exchange(thread.gaps, gaps_) != gaps_) thread.last = Flow::Onward;
  if (thread.nodes.empty())
    thread.nodes.push_back(node(node(kNoParent, tid), step.pc));
  else if (thread.last == Flow::Call)
    enter(thread, step.pc);
  else if (thread.last == Flow::Return)
    leave(thread, tid, step.pc);
  ++nodes_[thread.nodes.back()].steps;

  const machine::FlowInstruction instruction = decoder_.decode(step.opcode);
  if (instruction.length == 0) ++undecoded_;
  thread.last = instruction.flow;
  thread.behind_last = step.pc + instruction.length;
}

}  // namespace tracewell::formats
