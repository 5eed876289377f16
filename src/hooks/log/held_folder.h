// A folder that is held by a descriptor: whoever has one finds it also where somebody moved it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/files/folder.h"
#include "base/result.h"

namespace tracewell::hooks {

class HeldFolder {
 public:
  /// Of a log, to write to it.
  static Result<HeldFolder> open(const std::string& path);

  const Folder& folder() const { return folder_; }
  /// Is it what this path leads to?
  bool is_at(const std::string& path) const;
  /// Where it is; nullopt when it was removed. proc(5): /proc/PID/fd
  std::optional<std::string> now() const;
  /// It was moved: what its path is from now on, for messages.
  void call(const std::string& path) { folder_.call(path); }

 private:
  explicit HeldFolder(Folder folder) : folder_(std::move(folder)) {}

  Folder folder_;
};

}  // namespace tracewell::hooks
