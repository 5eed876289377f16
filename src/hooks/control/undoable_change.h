// Changes of a file of users' that they can take back.
#pragma once

#include <functional>
#include <string>

#include "base/files/file.h"
#include "base/result.h"

namespace tracewell::hooks {

struct UndoableText {
  std::string text;  // what the file shall be
  std::string undo;  // what takes that back
};

/// change_file(), with what takes the changes back in `undo_path` before they are made. That name
/// is not one that somebody gave: InvalidArgument where something else than a file has it. Where
/// nothing changes, what takes back earlier changes is left alone. `source` is the file of the
/// changes: one that is made is hidden from those who may not read the changed one, or that.
Status change_undoably(const std::string& path, const std::string& undo_path,
                       const FileFacts& source,
                       const std::function<Result<UndoableText>(const std::string& text)>& change);

}  // namespace tracewell::hooks
