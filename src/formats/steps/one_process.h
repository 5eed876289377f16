// Whose the events of a file are that can say it of all of them, or of none.
#pragma once

#include <cstdint>
#include <string>

#include "model/catalog.h"
#include "model/event.h"
#include "model/process_table.h"

namespace tracewell::formats {

class OneProcess {
 public:
  void begin(const Catalog& catalog) {
    table_ = ProcessTable(catalog);
    is_of_one_ = catalog.processes.size() == 1;
  }
  /// A change may say who a process is.
  void learn(const Event& event) { table_.learn(event); }
  /// An event that is written.
  void take(uint32_t process) {
    if (process_ == 0) process_ = process;
    nobodys_ |= process == 0;
    others_ |= process != 0 && process != process_;
  }
  /// nullptr: they are not all of one that is known.
  const Process* find() const {
    if (nobodys_ || others_) return nullptr;
    return table_.find(process_ == 0 && is_of_one_ ? 1 : process_);
  }
  /// What the file does not say, for people. "" = that is nothing, or StepsOnly says it.
  std::string left_out() const {
    if (process_ == 0 || !nobodys_ || others_) return "";
    return "whose some events are is not known, so the file does not say whose the others are";
  }

 private:
  ProcessTable table_;
  bool is_of_one_ = false;  // as the catalog has it
  uint32_t process_ = 0;    // of the first event that says it
  bool nobodys_ = false, others_ = false;
};

}  // namespace tracewell::formats
