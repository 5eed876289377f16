// A folder that is held by a descriptor: whoever has one finds it also where somebody moved it.
#pragma once

#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace tracewell::hooks {

class HeldFolder {
 public:
  static Result<HeldFolder> open(const std::string& path);

  /// Leads to it as long as this lives, wherever it is. proc(5): /proc/PID/fd
  const std::string& path() const { return link_; }
  /// Is it what this path leads to?
  bool is_at(const std::string& path) const;
  /// Where it is; nullopt when it was removed.
  std::optional<std::string> now() const;

 private:
  explicit HeldFolder(UniqueFd fd);

  UniqueFd fd_;
  std::string link_;
};

}  // namespace tracewell::hooks
