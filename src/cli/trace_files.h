// What the commands that read a trace file have in common: its options, and telling what is wrong
// with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
/// Those of trace/told_problems.h as a command's work.
void tell_problems(const trace::OpenTrace& trace, const std::string& path);
void tell_lost_events(const trace::LostEvents& lost, const std::string& path);

/// --csv-safe, and whether it fits the format that is written.
void add_csv_safe(OptionTable& table, bool& safe);
Status check_csv_safe(bool safe, std::string_view format);

}  // namespace tracewell::cli
