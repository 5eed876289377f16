// tracewell info FILE: format, machine, records, definitions, problems.
#include <unordered_set>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/image_code.h"
#include "cli/image_modules.h"
#include "cli/images.h"
#include "cli/info_report.h"
#include "cli/notes_file.h"
#include "cli/trace_files.h"

namespace tracewell::cli {
namespace {

struct InfoOptions {
  InputOptions input;
  ImageOptions images;
  bool json = false;
};

/// Counts by a walk over all events.
Status count_events(Source& source, TraceInfo& info) {
  std::unordered_set<uint64_t> threads;
  LostEvents lost;
  bool steps = false;  // then a mark has the number of the step behind it
  Batch batch;
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool more, source.next(batch));
    if (!more) break;
    for (const Event& event : batch.events()) {
      if (event.tid != 0) threads.insert(event.tid);
      lost.look_at(event);
      steps |= std::holds_alternative<Step>(event.body);
      if (std::holds_alternative<Mark>(event.body)) ++info.marks;
      if (!std::holds_alternative<Mark>(event.body) && !std::holds_alternative<Lost>(event.body))
        ++info.records;
    }
  }
  if (steps) info.marks = 0;
  info.threads = threads.size();
  info.lost = lost.places();
  return {};
}

Status info(const InfoOptions& options) {
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(options.input));
  TraceInfo info;
  info.path = options.input.path;
  info.format = trace.format->name;
  info.format_description = trace.format->description;
  info.catalog = trace.source->catalog();
  info.notes = notes_of(trace, options.input.path).notes;
  symbols::ImageMap images;
  if (options.images.any()) {
    TW_ASSIGN_OR_RETURN(images, place_images(info.catalog, options.images));
    info.other_builds = other_builds(info.catalog, images, options.images);
    add_image_modules(info.catalog, images);
  }
  const auto* summary = dynamic_cast<const formats::Summarised*>(trace.source.get());
  if (Seekable* index = trace.source->seekable(); index && summary) {
    info.records = index->count();
    info.threads = summary->thread_count();
    info.facts = summary->facts();
    if (!images.images().empty()) check_code(*trace.source, images);
  } else {
    trace.source = with_checked_code(std::move(trace.source), images);
    TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source,
                        select_events(std::move(trace.source), {}, *trace.problems,
                                      options.input.strict, "counting"));
    TW_RETURN_IF_ERROR(count_events(*source, info));
  }
  note_lost_bytes(trace);
  info.problems = trace.problems.get();
  fmt::print("{}", options.json ? info_json(info) : info_text(info));
  return {};
}

}  // namespace

Run info_command(CLI::App& app) {
  auto options = std::make_shared<InfoOptions>();
  add_input_options(app, options->input);
  add_image_options(app, options->images, "its place, and whether it is what was executed");
  app.add_flag("--json", options->json, "as JSON");
  return [options](const Invocation&) {
    const Status status = info(*options);
    return status.ok() ? static_cast<int>(kOk) : fail(status.error());
  };
}

}  // namespace tracewell::cli
