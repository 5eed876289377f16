// tracewell convert IN OUT: any format that can be read to any that can be written.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "trace/writing/conversion.h"
#include "trace/writing/output.h"

namespace tracewell::cli {
namespace {

struct ConvertOptions {
  trace::Conversion conversion;
  std::string format;
  std::optional<std::vector<std::string>> at;  // lists of addresses

  /// As one list.
  std::string all_at() const {
    std::string out;
    for (const std::string& list : *at) out += (out.empty() ? "" : ",") + list;
    return out;
  }
};

Status convert(const ConvertOptions& options) {
  trace::Conversion conversion = options.conversion;
  TW_ASSIGN_OR_RETURN(const formats::Format* format,
                      trace::output_format(options.format, conversion.output));
  TW_RETURN_IF_ERROR(check_csv_safe(conversion.save.csv_safe, format->name));
  if (options.at) conversion.at = options.all_at();
  return trace::convert(conversion, *format, command_work());
}

}  // namespace

Run convert_command(OptionTable& table) {
  auto options = std::make_shared<ConvertOptions>();
  trace::Conversion& conversion = options->conversion;
  add_input_options(table, conversion.input);
  const std::vector<std::string> formats = trace::writable_formats();
  table.add({
      {.names = "OUT",
       .to = &conversion.output,
       .what = "where to write; - is standard output",
       .completes = Completes::File,
       .required = true},
      {.names = "--format",
       .to = &options->format,
       .value = "NAME",
       .what = fmt::format("format of OUT, when its name does not say: {}",
                           fmt::join(formats, ", ")),
       .choices = formats,
       .open = true},
  });
  add_image_options(table, conversion.images,
                    "where the trace's modules were, how large they are, and instructions that the "
                    "trace does not tell");
  table.add({{.names = "--module",
              .to = &conversion.modules,
              .value = "NAME@BASE,SIZE",
              .what = "where a module was whose file is not at hand, and its size in bytes"}});
  add_selection_options(table, conversion.selection);
  table.footer =
      "Exit status: 1 when nothing fits --from, --to, --where or --at, or no instruction is "
      "in a module (drcov, modoff); 3 also when steps lack what OUT's format cannot do "
      "without (trace64: opcodes). OUT is left as it was then.";
  table.add({
      {.names = "--at",
       .to = &options->at,
       .value = "ADDR,...",
       .what = "steps become trace frames: those at these addresses (into a tfile, all do "
               "without)"},
      {.names = "--mark-gaps",
       .to = &conversion.mark_gaps,
       .what = "trace64: say where --where has left out steps (other formats always do)"},
  });
  add_csv_safe(table, conversion.save.csv_safe);
  table.add({
      {.names = "--compat",
       .to = &conversion.save.compat,
       .what = "write so that older readers open it (trace64: no user blocks, a small header)"},
      {.names = "--style",
       .to = &conversion.save.style,
       .value = "NAME",
       .what = "trace64: minimal, or x64dbg (words listed twice, as x64dbg does it; the default "
               "for what comes from it)",
       .choices = {"minimal", "x64dbg"},
       .open = true},
  });
  return [options](const Invocation&) {
    const Status status = convert(*options);
    return status.ok() ? static_cast<int>(kOk) : fail(status.error());
  };
}

}  // namespace tracewell::cli
