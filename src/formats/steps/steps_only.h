// What formats that hold executed instructions and nothing else do with the other events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/event.h"

namespace tracewell::formats {

/// Counts what such a format leaves out, and says it.
class StepsOnly {
 public:
  /// For an event that is no step. An Error for one that stands for data of another kind: a trace
  /// of tracepoint frames would become an empty file.
  Status other(const Event& event, std::string_view format);
  /// One of whatever `what` names; where one and many are said in different words, as in
  /// "{access is|accesses are} without known bytes" or "instruction{|s} could not be decoded".
  void count(std::string_view what, uint64_t by = 1);
  /// An event that is written, in a format that says of no event whose it is.
  void of_process(uint32_t process) {
    if (process == process_ || process == 0) return;
    if (process_ == 0)
      process_ = process;
    else
      ++of_others_;
  }
  /// Of a trace of several processes: what such a format refuses, appended to `out`.
  static void refuse_processes(const Catalog& catalog, std::vector<std::string>& out);
  /// What the step says of itself that such a format has no word for.
  void count_unsaid(const Step& step);
  /// A line of its own, in front of what is counted.
  void say(std::string line) { said_.push_back(std::move(line)); }
  std::vector<std::string> left_out() const;

 private:
  struct Counted {
    std::string what;
    uint64_t count = 0;
  };
  uint32_t process_ = 0;   // of the first event that has one
  uint64_t of_others_ = 0;
  std::vector<std::string> said_;
  std::vector<Counted> counted_;  // by first occurrence
};

}  // namespace tracewell::formats
