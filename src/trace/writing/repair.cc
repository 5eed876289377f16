#include "trace/writing/repair.h"

#include <utility>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "base/text/text.h"
#include "filter/step_notes.h"
#include "trace/lost_files.h"
#include "trace/notes_file.h"
#include "trace/selection.h"
#include "trace/writing/output.h"

namespace tracewell::trace {
namespace {

/// The format can be written, and the output's name is not that of another one.
Status check_repaired_format(const Repair& wanted, const formats::Format& format) {
  if (!format.create)
    return {Errc::Unsupported, fmt::format("{} cannot be written; convert it to a format that can",
                                           format.description)};
  const formats::Format* const meant = formats::find_format_for_path(wanted.output);
  if (meant == nullptr || meant == &format) return {};
  return {Errc::InvalidArgument,
          fmt::format("repair writes the format of {}, {}, and {} is a name of {}; use another "
                      "name, and convert what was repaired",
                      printable(wanted.input.path), format.name, printable(wanted.output),
                      meant->name)};
}

}  // namespace

Result<std::unique_ptr<ProblemLog>> repair(const Repair& wanted, const Work& work) {
  if (wanted.output != "-" && is_same_file(wanted.input.path, wanted.output))
    return {Errc::InvalidArgument,
            fmt::format("{} and {} are the same file; what was lost should stay at hand",
                        printable(wanted.input.path), printable(wanted.output))};
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(wanted.input, work, {.anew = true}));
  const formats::Format& format = *trace.format;
  TW_RETURN_IF_ERROR(check_repaired_format(wanted, format));
  TraceNotes notes = notes_of(trace, wanted.input.path, work);
  trace.source =
      filter::with_notes(std::move(trace.source), std::move(notes.notes), notes.beside);
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source,
                      select_events(std::move(trace.source), {}, *trace.problems,
                                    wanted.input.strict, "repairing", work));
  formats::SaveOptions save = wanted.save;
  save.sound = true;
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink, create_sink(format, wanted.output, save));
  tell_other_name(wanted.output, format, source->catalog().machine, work);
  TW_RETURN_IF_ERROR(pump(*source, *sink));
  note_lost_bytes(trace.file.get(), *trace.problems);
  tell_left_out(*sink, wanted.output, work);
  return std::move(trace.problems);
}

}  // namespace tracewell::trace
