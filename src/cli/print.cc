// tracewell print FILE: events, for people or for scripts.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/process/interrupt.h"
#include "base/process/terminal.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/event_text.h"
#include "render/step_rows.h"
#include "trace/selected_events.h"
#include "trace/writing/output.h"

namespace tracewell::cli {
namespace {

struct PrintOptions {
  trace::InputOptions input;
  trace::SelectionOptions selection;
  trace::ImageOptions images;
  std::string format = "text";
  std::vector<std::string> columns;
  bool json = false;
  uint64_t limit = UINT64_MAX;
  formats::SaveOptions save;
};

/// For people, then what is text in the table of formats.
std::vector<std::string> printed_formats() {
  std::vector<std::string> names = {"text"};
  for (const formats::Format* format : formats::formats())
    if (!format->binary && format->create != nullptr) names.emplace_back(format->name);
  return names;
}

/// "text" is ours alone; the others are formats.
Result<std::unique_ptr<Sink>> create_print_sink(const PrintOptions& options,
                                                trace::AddressNames names) {
  if (options.format != "text")
    return trace::create_sink(*formats::find_format(options.format), "-", options.save);
  if (!options.json && options.columns.empty())
    return render::text_sink(output_has_color(), std::move(names));
  render::StepRowsOptions rows;
  rows.json = options.json;
  TW_ASSIGN_OR_RETURN(rows.columns, render::parse_columns(options.columns));
  const std::string empty = render::image_columns(rows.columns);
  if (!empty.empty() && !names.symbol)
    fmt::print(stderr, "tracewell: --columns {}: nothing to show; names come from --image "
                       "FILE[@BASE]\n", empty);
  return render::step_rows(std::move(rows), std::move(names));
}

Status check(const PrintOptions& options) {
  if (options.limit == 0) return {Errc::InvalidArgument, "--limit 0 shows nothing"};
  TW_RETURN_IF_ERROR(check_csv_safe(options.save.csv_safe, options.format));
  if (options.format == "text") return {};
  if (options.json || !options.columns.empty())
    return {Errc::InvalidArgument, fmt::format("{} has its own columns; --columns and --json are "
                                               "for text",
                                               options.format)};
  // Names may still be asked for by --where.
  if (options.images.any() && options.selection.where.empty())
    return {Errc::InvalidArgument,
            fmt::format("{} carries no names; --image and --images-from-trace are for text",
                        options.format)};
  return {};
}

Result<int> print(const PrintOptions& options) {
  TW_RETURN_IF_ERROR(check(options));
  const Work work = command_work();
  TW_ASSIGN_OR_RETURN(trace::SelectedEvents events,
                      trace::SelectedEvents::open(options.input, options.selection,
                                                  options.images, work));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink,
                      create_print_sink(options, events.names()));
  TW_RETURN_IF_ERROR(events.begin(options.limit, "printing", work));
  const InterruptGuard guard;
  const Status done = pump(events.source(), *sink);
  events.tell_doubts(work);
  trace::tell_left_out(*sink, options.format, work);
  if (!done.ok()) return done.error();
  if (options.selection.selects() && events.source().count() == 0)
    return nothing(trace::why_nothing(options.selection));
  return static_cast<int>(kOk);
}

}  // namespace

Run print_command(OptionTable& table) {
  auto options = std::make_shared<PrintOptions>();
  add_input_options(table, options->input);
  table.add({{.names = "--format",
              .to = &options->format,
              .value = "NAME",
              .what = "of the output",
              .otherwise = "text",
              .choices = printed_formats()}});
  add_csv_safe(table, options->save.csv_safe);
  table.add({
      {.names = "--columns",
       .to = &options->columns,
       .value = "NAME,...",
       .what = fmt::format("of executed instructions, a line each: {}",
                           fmt::join(render::column_names(), ", ")),
       .choices = render::column_names(),
       .open = true,
       .separator = ',',
       .shows_list = true},
      {.names = "--json",
       .to = &options->json,
       .what = "the columns, or all of them, as an object a line"},
  });
  add_image_options(table, options->images, "the names of functions, lines and data in text");
  add_selection_options(table, options->selection);
  table.add({{.names = "--limit",
              .to = &options->limit,
              .value = "N",
              .unit = "events",
              .what = "end after N events (or steps, with what is noted at them)",
              .otherwise = "all"}});
  table.footer =
      "A step's line: rax=0x5 is what it left in a register (rax=? is not known), [0x10]=2a bytes "
      "that it read, [0x10]<-2b that it wrote, ?(8) so many that nobody knows; before: what held "
      "before it and no earlier step has told.\n"
      "Exit status: 1 when --from, --to or --where leave nothing to print. Damage is told on "
      "standard error and leaves it 0; --strict ends with 3 there.";
  return [options](const Invocation&) {
    const auto status = print(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
