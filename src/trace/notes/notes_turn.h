// Whose turn it is to write FILE.notes: two commands that change notes of one trace at the same
// time must not lose what the other one wrote.
#pragma once

#include <string>
#include <utility>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/result.h"

namespace tracewell::trace {

/// Holds the file FILE.notes.lock, beside the notes, and locks it (base/files/file_lock.h). Only
/// its owner and root can open that file. A lock of the trace, or of its notes, would be anybody's
/// who may read them.
class NotesTurn {
 public:
  /// Waits for others of this user's, as long as they come to an end. `notes` is where the notes
  /// are, and `path` what was named: the file is made in that folder, wherever the path leads by
  /// now. Io: one of them has been at it for kWaitSeconds, or nothing can be made in the folder.
  /// InvalidArgument: the file is somebody else's, and has been there for kWaitSeconds.
  static Result<NotesTurn> take(const Place& notes, const std::string& path);
  static constexpr int kWaitSeconds = 10;

  NotesTurn(NotesTurn&&) noexcept = default;
  NotesTurn& operator=(NotesTurn&&) = delete;
  /// The file goes. One that a command leaves which is killed is nobody's, and the next one takes
  /// it.
  ~NotesTurn();

 private:
  NotesTurn(Folder::Entry at, UniqueFd file) : at_(std::move(at)), file_(std::move(file)) {}

  Folder::Entry at_;
  UniqueFd file_;  // locked
};

}  // namespace tracewell::trace
