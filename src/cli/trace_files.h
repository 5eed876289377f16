// What the commands that read a trace file have in common: its options, and telling what is wrong
// with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.h"
#include "model/stream.h"
#include "trace/file.h"
#include "trace/images/images.h"
#include "trace/selection.h"
#include "trace/step_trace.h"

namespace tracewell::cli {

struct OptionTable;

/// FILE, --input-format, --endian, --strict.
void add_input_options(OptionTable& table, trace::InputOptions& options);
/// The same without FILE.
void add_reading_options(OptionTable& table, trace::InputOptions& options);
/// --from, --to, --where.
void add_selection_options(OptionTable& table, trace::SelectionOptions& options);
/// Names for --input-format.
std::vector<std::string> readable_formats();

/// trace::open_step_trace() as a command's work; the trace's problems are told.
Result<trace::StepTrace> open_step_trace(const trace::InputOptions& options,
                                         const trace::ImageOptions& images);
/// To standard error: the first few of each kind, and how many there are of it (tell_problems.cc).
void tell_problems(const trace::OpenTrace& trace, const std::string& path);
/// Also those notes that say that steps are missing: an answer may be among these.
void tell_missing_steps(const trace::OpenTrace& trace, const std::string& path);
/// What a trace has lost of events that might have been chosen: the first few places.
void tell_lost_events(const trace::LostEvents& lost, const std::string& path);
/// Both, where --where chooses.
void tell_losses(const trace::OpenTrace& trace, const trace::SelectionOptions& selection,
                 const std::string& path);
/// At the end of a command: what was not told by then, to standard error. Since the answer may be
/// wrong then, the result is no good status if a trace was asked; else it is `status`.
int tell_lost_files(int status);
/// That x64dbg looks for code of this machine in files of another name than this one.
void tell_other_name(const std::string& output, const formats::Format& format,
                     std::string_view machine);
/// What the sink left out indeed, to standard error, under the name of its output.
void tell_left_out(const Sink& sink, const std::string& name);

/// --csv-safe, and whether it fits the format that is written.
void add_csv_safe(OptionTable& table, bool& safe);
Status check_csv_safe(bool safe, std::string_view format);
/// Opens `path` ("-": standard output) for `format`. Refuses binary on a terminal.
Result<std::unique_ptr<Sink>> create_sink(const formats::Format& format, const std::string& path,
                                          const formats::SaveOptions& options = {});

}  // namespace tracewell::cli
