// How many notes a selection has left out, of a trace of steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/catalog.h"
#include "model/stream.h"
#include "model/work.h"

namespace tracewell::trace {

class NoteCount {
 public:
  /// The same events, before anything is selected. `notes`: those that a source with random access
  /// has, for a selection begins in the middle of it.
  std::unique_ptr<Source> of_all(std::unique_ptr<Source> source, const std::vector<Note>& notes);
  /// The same events, of those that were selected.
  std::unique_ptr<Source> of_selected(std::unique_ptr<Source> source);
  /// Told once all has gone by, under the name of what was written.
  void tell(const std::string& output, const Work& work) const;

 private:
  std::shared_ptr<uint64_t> all_ = std::make_shared<uint64_t>(0);
  std::shared_ptr<uint64_t> selected_ = std::make_shared<uint64_t>(0);
};

}  // namespace tracewell::trace
