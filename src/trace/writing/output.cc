#include "trace/writing/output.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files/file.h"
#include "base/process/terminal.h"
#include "base/text/text.h"

namespace tracewell::trace {

std::vector<std::string> writable_formats() {
  std::vector<std::string> out;
  for (const formats::Format* format : formats::formats())
    if (format->create) out.emplace_back(format->name);
  return out;
}

Result<const formats::Format*> output_format(std::string_view name, const std::string& path) {
  const formats::Format* format =
      name.empty() ? formats::find_format_for_path(path) : formats::find_format(name);
  if (!format)
    return Error{
        Errc::InvalidArgument,
        name.empty()
            ? fmt::format("the name {} does not say in which format to write; use --format "
                          "with one of {}",
                          path, fmt::join(writable_formats(), ", "))
            : fmt::format("there is no format {}; use one of {}", name,
                          fmt::join(writable_formats(), ", ")),
        {}};
  return format;
}

Result<std::unique_ptr<Sink>> create_sink(const formats::Format& format, const std::string& path,
                                          const formats::SaveOptions& options) {
  if (!format.create)
    return Error{Errc::Unsupported, fmt::format("format {} cannot be written", format.name), {}};
  if (format.binary && is_output(path) && output_is_terminal())
    return Error{Errc::InvalidArgument,
                 fmt::format("{} is binary; not written to a terminal", format.description),
                 {}};
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path));
  return format.create(std::move(file), options);
}

void tell_other_name(const std::string& path, const formats::Format& format,
                     std::string_view machine, const Work& work) {
  if (format.name != "trace64") return;
  const bool wide = machine == "x86-64";
  if (!wide && machine != "i386") return;
  if (!path.ends_with(wide ? ".trace32" : ".trace64")) return;
  work.tell(fmt::format(
      "{}: this is {} code in spite of the name; x64dbg looks for it in {} files",
      printable(path), wide ? "64-bit" : "32-bit", wide ? ".trace64" : ".trace32"));
}

void tell_left_out(const Sink& sink, const std::string& name, const Work& work) {
  for (const std::string& line : sink.left_out())
    work.tell(fmt::format("{}: {}", printable(name), printable(line)));
}

}  // namespace tracewell::trace
