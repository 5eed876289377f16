// Files that state_path() names, of which one may be another's work.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "model/work.h"

namespace tracewell::hooks {

class BelievedFiles {
 public:
  /// `work` is told, once, that there is one that is not believed.
  explicit BelievedFiles(Work work) : work_(std::move(work)) {}

  /// nullopt where state_path() is an error: what is there is not used.
  std::optional<std::string> path(const Result<std::string>& path);

 private:
  Work work_;
  bool told_ = false;
};

}  // namespace tracewell::hooks
