// A session as users ask for it: what `trace` makes of its words.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hooks/control/believed_files.h"
#include "hooks/session/session.h"
#include "model/work.h"

namespace tracewell::hooks {

/// Texts as they were typed; "" where nothing was said. AIX's letters are what errors call them by.
struct SessionWords {
  bool circular = false, single = false;  // -l, -f
  bool stop_when_full = false;            // -s
  bool off = false, keep_old = false;     // -d, -c
  bool record_cpus = false;               // -p
  bool system = false;                    // -n
  std::string log_size, buffer_size;      // -L, -T
  std::string only, except;               // -j, -k
  std::string only_groups, except_groups; // -J, -K
  std::string processes, threads;         // -A, -t
  std::string propagation, cpus;          // -P, -C
  std::string log, message;               // -o, -m
};

/// What a session of them is, together with what the user's defaults and groups say, as far as
/// `files` are believed. `command` is what the log says that it was made by. `work` is told of what
/// was not asked for, and made to fit.
Result<SessionOptions> read_session(const SessionWords& words, unsigned channel,
                                    const std::string& command, BelievedFiles& files,
                                    const Work& work);

/// A command line that a shell reads back as the same words: for the log.
std::string command_text(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace tracewell::hooks
