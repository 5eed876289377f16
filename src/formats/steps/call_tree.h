// Who called whom, followed through executed calls and returns.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/begin_anew.h"
#include "machine/call_stack.h"
#include "machine/control_flow.h"
#include "model/event.h"

namespace tracewell::formats {

/// Adds up the executed instructions for each stack of callers. A function is known by the address
/// at which it was entered; the lowest one of a thread, by the first address seen there. Calls and
/// returns are followed by a CallStack. Memory grows with the threads, and with the distinct stacks
/// up to kNodesMax.
class CallTree {
 public:
  static constexpr uint32_t kNoParent = UINT32_MAX;
  static constexpr uint32_t kNodesMax = 1 << 20;
  static constexpr uint32_t kDepthMax = 512;
  struct Node {
    uint32_t parent = kNoParent;  // index into nodes(), always a smaller one
    uint64_t address = 0;         // of the function; without a parent: the thread's id
    uint64_t steps = 0;           // executed in the function itself
  };

  explicit CallTree(std::string_view machine) : decoder_(machine) {}
  void step(uint64_t tid, const Step& step);
  /// Instructions are missing here: the next step of a thread does not follow its last one.
  void gap() { ++gaps_; }
  /// A new recording begins: nobody is inside of anything.
  void restart() { begin_anew(threads_); }

  const std::vector<Node>& nodes() const { return nodes_; }
  /// Calls whose instructions are counted as their caller's, because kDepthMax or kNodesMax was
  /// reached.
  uint64_t cut() const { return cut_; }
  /// Steps that may have been calls or returns, for all that is known.
  uint64_t undecoded() const { return undecoded_; }

 private:
  struct Thread {
    std::vector<uint32_t> nodes;  // of the lowest level, and of each call that it is inside of
    machine::CallStack calls{kDepthMax - 1};
    machine::Flow last = machine::Flow::Onward;
    uint64_t gaps = 0;  // those before its last step
    uint64_t behind_last = 0;
  };
  struct Key {
    uint32_t parent;
    uint64_t address;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };

  /// The node; `parent` itself when there are too many.
  uint32_t node(uint32_t parent, uint64_t address);
  void enter(Thread& thread, uint64_t address);
  void leave(Thread& thread, uint64_t tid, uint64_t to);

  machine::FlowDecoder decoder_;
  std::vector<Node> nodes_;
  std::unordered_map<Key, uint32_t, Hash> index_;
  std::unordered_map<uint64_t, Thread> threads_;
  uint64_t gaps_ = 0;
  uint64_t cut_ = 0;
  uint64_t undecoded_ = 0;
};

}  // namespace tracewell::formats
