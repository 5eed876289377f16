// Programs of another user, for tests that root runs; root's own otherwise.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "target/debuggee.h"

namespace tracewell::target {

constexpr uid_t kOtherUser = 65534;

/// Also while it is the other user for a moment.
inline bool is_root() { return ::getuid() == 0; }

/// A folder that everybody may look into, and that goes with this.
class OpenFolder {
 public:
  OpenFolder();
  ~OpenFolder();
  std::string at(const std::string& name) const { return path_ + "/" + name; }
  /// A copy of an inferior, or of a library of those; root gives it to the other user.
  std::string take(const std::string& inferior_name);
  /// A new file, root's or this user's, that only its owner may read unless `mode` says more.
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600);
  /// A link of the other user's.
  void link(const std::string& to, const std::string& name);

 private:
  std::string path_;
};

/// A program that runs as the other user if this is root; `environment` is all that it gets. Waits
/// until it has printed a line.
class OtherProgram {
 public:
  OtherProgram(std::vector<std::string> argv, std::vector<std::string> environment = {});
  ~OtherProgram();
  Pid pid() const { return pid_; }
  const std::string& said() const { return said_; }

 private:
  Pid pid_ = 0;
  std::string said_;
};

}  // namespace tracewell::target
