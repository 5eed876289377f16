#include "hooks/control/undoable_change.h"

#include <utility>

#include <fmt/format.h>

#include "base/files/open.h"
#include "base/text/text.h"
#include "hooks/control/defaults.h"

namespace tracewell::hooks {
namespace {

/// `source`: what the system says of the file that is changed.
Status write_undo(const std::string& path, const std::string& text, const FileFacts& source) {
  TW_ASSIGN_OR_RETURN(Place place, write_place(path));
  if (place.at.valid() && place.facts.kind != FileFacts::Kind::Regular)
    return {Errc::InvalidArgument,
            fmt::format("{} is there, and is no file: what takes the changes back goes there",
                        printable(path))};
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create_instead(std::move(place), path, &source));
  TW_RETURN_IF_ERROR(file.write(text));
  return file.commit();
}

}  // namespace

Status change_undoably(const std::string& path, const std::string& undo_path,
                       const FileFacts& source,
                       const std::function<Result<UndoableText>(const std::string& text)>& change) {
  return change_file(
      path, source,
      [&](const std::string& text, const FileFacts* facts) -> Result<std::string> {
        TW_ASSIGN_OR_RETURN(UndoableText done, change(text));
        if (done.text != text)
          TW_RETURN_IF_ERROR(write_undo(undo_path, done.undo, facts ? *facts : source));
        return std::move(done.text);
      });
}

}  // namespace tracewell::hooks
