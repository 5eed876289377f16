#include "cli/trace_files.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/text.h"
#include "cli/command_work.h"
#include "cli/options/option.h"
#include "trace/images/image_names.h"
#include "trace/told_problems.h"

namespace tracewell::cli {
namespace {

std::string refuse_blank(const std::string& text) {
  const bool blank = text.find_first_not_of(" \t\r\n") == text.npos;
  return blank ? "nothing is asked; wanted is such as 'pc == 0x401000'" : "";
}

}  // namespace

std::vector<std::string> readable_formats() {
  std::vector<std::string> out;
  for (const formats::Format* format : formats::formats())
    if (format->open) out.emplace_back(format->name);
  return out;
}

void add_input_options(OptionTable& table, trace::InputOptions& options) {
  table.add({{.names = "FILE",
              .to = &options.path,
              .what = "the trace; - is standard input",
              .completes = Completes::File,
              .required = true}});
  add_reading_options(table, options);
}

void add_reading_options(OptionTable& table, trace::InputOptions& options) {
  const std::vector<std::string> formats = readable_formats();
  table.add({
      {.names = "--input-format",
       .to = &options.format,
       .value = "NAME",
       .what = fmt::format("what FILE is, when its content does not say: {}",
                           fmt::join(formats, ", ")),
       .choices = formats,
       .open = true},
      {.names = "--endian",
       .to = &options.endian,
       .value = "ORDER",
       .what = "byte order of the trace, when nothing in it says: little or big",
       .choices = {"little", "big"}},
      {.names = "--strict", .to = &options.strict, .what = "fail at the first sign of damage"},
  });
}

void add_selection_options(OptionTable& table, trace::SelectionOptions& options) {
  table.add({
      {.names = "--from",
       .to = &options.from,
       .value = "N",
       .unit = "event",
       .what = "begin with event (or step) N",
       .otherwise = "the first"},
      {.names = "--to",
       .to = &options.to,
       .value = "N",
       .unit = "event",
       .what = "end with event (or step) N",
       .otherwise = "the last"},
      {.names = "--where",
       .to = &options.where,
       .value = "EXPR",
       .what = "only events for which this holds, such as 'tracepoint == 2 && $rax != 0' or "
               "'mnemonic =~ \"^j\" && pc in 0x401000..0x401fff'; fields: step (or seq), tid, "
               "cpu, time_ns, tracepoint, pc, kind, id, subhook, mnemonic, disassembly, module, "
               "symbol, text, $REGISTER, $REGISTER.before, read, write, access (of memory), such "
               "as write[0x7000..0x7fff] == 1",
       .check = refuse_blank},
  });
}

Result<trace::StepTrace> open_step_trace(const trace::InputOptions& options,
                                         const trace::ImageOptions& images) {
  const Work work = command_work();
  TW_ASSIGN_OR_RETURN(trace::OpenTrace trace, trace::open_trace(options, work));
  TW_ASSIGN_OR_RETURN(trace::AddressNames names,
                      trace::names_of_images(trace.source, images, work));
  TW_ASSIGN_OR_RETURN(trace::StepTrace out,
                      trace::index_step_trace(std::move(trace), options, work));
  out.names = std::move(names);
  tell_problems(out.trace, options.path);
  trace::read_notes(out, options.path, work);
  return out;
}

void tell_problems(const trace::OpenTrace& trace, const std::string& path) {
  trace::tell_problems(trace, path, command_work());
}

void tell_lost_events(const trace::LostEvents& lost, const std::string& path) {
  trace::tell_lost_events(lost, path, command_work());
}

void add_csv_safe(OptionTable& table, bool& safe) {
  table.add({{.names = "--csv-safe",
              .to = &safe,
              .what = "csv: a ' before texts that a spreadsheet would take for formulas"}});
}

Status check_csv_safe(bool safe, std::string_view format) {
  if (!safe || format == "csv") return {};
  return {Errc::InvalidArgument,
          fmt::format("--csv-safe is of csv, and this is {}", printable(format))};
}

}  // namespace tracewell::cli
