// A program that is named without its folder. gdbserver looks for it in its working folder before
// it looks along PATH. So do we, but for names that somebody else may have put there.
#pragma once

#include <optional>
#include <string>

#include "base/files/file.h"
#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {

struct ProgramHere {
  std::string path;  // of the program; "" = there is none, or it is passed over
  /// What has to start, where others may exchange what has that path meanwhile.
  std::optional<FileFacts> only;
  std::string passed_over;  // why the one that is there is not taken; "" = nothing is
};
/// `moves`: it starts in another folder, so that `path` is absolute. It begins with "./" otherwise.
ProgramHere program_here(const std::string& name, bool moves);

/// Does the process run this file?
bool runs_file(Pid pid, const FileFacts& file);

}  // namespace tracewell::target::live
