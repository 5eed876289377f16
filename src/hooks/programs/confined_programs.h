// Programs that restrict their own system calls (seccomp) and have hooks of ours. A thread's first
// hook in a trace makes calls (tracewell/hooks.h lists them), and a filter may kill the program for
// one of them: so whoever begins a trace is asked first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tracewell::hooks {

struct ConfinedProgram {
  uint32_t pid = 0;
  std::string path;  // of the program; "" = not known
  /// It lets nobody see whether it has hooks (PR_SET_DUMPABLE); `path` is its short name then.
  bool may_have_none = false;
};

/// Of this user's processes that see traces of this user's, or may do so: those with a thread that
/// has more filters than this process has. What both have, as all of a container do, both got from
/// elsewhere, and it is not counted. Before Linux 5.9 the number of filters is not told. By pid,
/// those that have hooks for sure first.
std::vector<ConfinedProgram> confined_programs();
/// An error where a program of this user's could be killed by its own filter of system calls once
/// it is traced.
Status kills_nobody();

}  // namespace tracewell::hooks
