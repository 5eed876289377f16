// Programs that run with hooks that no trace of ours sees, because they look at another control
// file: that of a librts with another layout, one that somebody has removed, or one in a folder
// that programs of an older librts chose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracewell::hooks {

struct UnseenProgram {
  uint32_t pid = 0;
  std::string path;      // of the program
  std::string looks_at;  // name of its control file
  bool removed = false;  // that file is there no more
  bool elsewhere = false;  // it is in another folder, and `looks_at` a path; else of another layout
};

/// Of this user's processes that can be looked at, by pid. Who ended meanwhile is left out. Those
/// of others are not looked at (own_process.h).
std::vector<UnseenProgram> unseen_programs();

}  // namespace tracewell::hooks
