#include "trace/notes/notes_turn.h"

#include <chrono>
#include <ctime>
#include <optional>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "base/files/open.h"
#include "base/text/text.h"

namespace tracewell::trace {
namespace {

constexpr long kTurnPauseNs = 20'000'000;

/// Signals end the command as they end any other: nothing here catches them.
void pause_a_little() {
  const timespec time{0, kTurnPauseNs};
  ::nanosleep(&time, nullptr);
}

/// Is it the same file, made at the same time? Numbers of inodes are used again.
bool is_same_making(const std::optional<FileFacts>& a, const std::optional<FileFacts>& b) {
  return a && b && a->is_same(*b) && a->changed_ns == b->changed_ns;
}

/// `refused`: it is somebody else's, or no file at all.
Error turn_too_long(const std::string& lock, const Error* refused) {
  if (refused != nullptr)
    return {refused->code,
            fmt::format("{}; the file is there while notes are written, for some milliseconds: "
                        "where nobody writes any, remove it",
                        refused->text()),
            {}};
  return {Errc::Io,
          fmt::format("another command has been writing these notes for {} seconds, and holds {} "
                      "(`fuser -v` of that file says which one)",
                      NotesTurn::kWaitSeconds, printable(lock)),
          {}};
}

}  // namespace

Result<NotesTurn> NotesTurn::take(const Place& notes, const std::string& path) {
  using Clock = std::chrono::steady_clock;
  const std::string lock = path + ".lock";
  TW_ASSIGN_OR_RETURN(Folder::Entry at, Folder::holding(notes, path));
  at.name += ".lock";
  Clock::time_point since = Clock::now();
  std::optional<FileFacts> before;  // of a file that another command of this user's holds
  while (true) {
    auto file = at.folder.open_own(at.name, Folder::Make::IfMissing);
    if (!file.ok() && file.error().code != Errc::InvalidArgument) return std::move(file).error();
    const auto there = at.folder.facts_of_name(at.name);
    if (file.ok() && lock_file(file->get()).ok()) {
      // Whoever had it may have removed it before it was locked: then it is the lock of nothing.
      TW_ASSIGN_OR_RETURN(const FileFacts locked, facts_of(file->get(), lock));
      const auto now_there = at.folder.facts_of_name(at.name);
      if (!now_there || !now_there->is_same(locked)) continue;
      return NotesTurn(std::move(at), *std::move(file));
    }
    if (file.ok() && !is_same_making(there, before)) {
      before = there;
      since = Clock::now();
    }
    if (Clock::now() - since > std::chrono::seconds(kWaitSeconds))
      return turn_too_long(lock, file.ok() ? nullptr : &file.error());
    pause_a_little();
  }
}

NotesTurn::~NotesTurn() {
  // Before it is unlocked: so nobody else holds it when it goes.
  if (file_.valid()) best_effort(at_.folder.remove(at_.name));
}

}  // namespace tracewell::trace
