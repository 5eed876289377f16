// A trace that somebody names: its file or folder, who reads it, and what is wrong with it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/files/beside.h"
#include "base/files/file.h"
#include "base/files/folder.h"
#include "formats/format.h"
#include "model/problem.h"
#include "model/stream.h"
#include "model/work.h"

namespace tracewell::trace {

/// Which trace, and what the user knows better than its content.
struct InputOptions {
  std::string path;
  std::string format = {};  // empty = by content
  std::string endian = {};  // "", "little", "big"
  bool strict = false;
  /// The folder that `path` was found in, which is then a trace's folder; nullptr = `path` is the
  /// operator's.
  std::shared_ptr<const Folder> found_in = {};
};

/// The index of a trace of steps is in a file beside it, FILE.tidx.
struct Sidecar {
  std::string path;
  Original trace;  // the trace's own file
};
/// None of what is not a file, and none where one is that is not believed (base/files/open.h); of
/// that `work` is told.
std::optional<Sidecar> sidecar_of(const InputFile& trace, const Work& work);

struct HowToOpen {
  bool spool = false;  // what comes from a pipe is put into a file without a name, and mapped
  bool anew = false;   // what an index beside it tells of the file is not believed
  /// Called before a file is begun that an end of the process in the middle would leave behind
  /// (true), and when it is whole (false).
  std::function<void(bool)> writes = {};
};

struct OpenTrace {
  std::unique_ptr<ProblemLog> problems;  // the source writes to it
  std::shared_ptr<InputFile> file;
  const formats::Format* format = nullptr;
  std::unique_ptr<Source> source;
  std::optional<Sidecar> sidecar;
};
Result<OpenTrace> open_trace(const InputOptions& options, const Work& work,
                             const HowToOpen& how = {});

/// What open_trace() would say at once of a file that is not there, or is no trace: for whoever
/// opens it later. What may be read only once is not looked at: then there is no format.
Result<const formats::Format*> is_openable(const InputOptions& options);

}  // namespace tracewell::trace
