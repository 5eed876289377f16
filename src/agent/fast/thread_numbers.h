// Threads that know themselves by other numbers than we do, since they are in a PID namespace below
// ours, as those of a container are (pid_namespaces(7)).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace tracewell::agent {

class ThreadNumbers {
 public:
  /// A thread is there: what it is to us, and to itself.
  void add(int64_t tid, int64_t own);
  /// It has ended; what it has said before is its own still, as long as few others end.
  void end(int64_t tid);
  bool differ(int64_t tid) const { return own_.contains(tid); }
  uint32_t own(int64_t tid) const;
  /// Who has that number for itself. 0: nobody that we have been told of.
  int64_t here(uint32_t own) const;

 private:
  static constexpr size_t kEndedMax = 4096;
  std::map<int64_t, uint32_t> own_;   // of those that live, where it is another number
  std::map<uint32_t, int64_t> here_;  // also of those that have ended
  std::deque<std::pair<uint32_t, int64_t>> ended_;
};

}  // namespace tracewell::agent
