#include "formats/format.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace tracewell::formats {

std::span<const Format* const> formats() {
  static const Format* const kFormats[] = {
#define FORMAT(name) &name##_format(),
#include "formats/formats.def"
#undef FORMAT
  };
  return kFormats;
}

const Format* find_format(std::string_view name) {
  for (const Format* format : formats())
    if (format->name == name) return format;
  for (const Format* format : formats())
    for (std::string_view extension : format->extensions)
      if (extension == name) return format;
  return nullptr;
}

const Format* find_format_for_path(std::string_view path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || path.find('/', dot) != std::string_view::npos)
    return nullptr;
  std::string extension(path.substr(dot + 1));
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
  for (const Format* format : formats())
    for (std::string_view known : format->extensions)
      if (known == extension) return format;
  return nullptr;
}

const Format* sniff_format(Bytes head) {
  for (const Format* format : formats())
    if (format->sniff && format->sniff(head)) return format;
  return nullptr;
}

namespace {

/// What its name says that it was to be helps who has named it wrongly, or has a damaged one.
Error why_no_trace(const std::shared_ptr<InputFile>& shared) {
  const InputFile& file = *shared;
  std::string out = fmt::format("{} is not a trace: ", file.path());
  if (file.bytes().empty())
    return {Errc::Unsupported, out + "it is empty", {}, failures::kNotATrace};
  if (as_text(file.bytes()).starts_with("/* CTF "))
    return {Errc::Unsupported,
            out + "it is a CTF trace's, but not of one of trace hooks (what GDB's tsave -ctf "
                  "writes is not read; use tsave)",
            {},
            failures::kNotATrace};
  const Format* const named = find_format_for_path(file.path());
  if (named && named->open) {
    out += fmt::format("its name says {}, and it does not begin like one", named->name);
    if (named->binary) return {Errc::Unsupported, out, {}, failures::kNotATrace};
    ProblemLog untold;
    if (auto tried = named->open(shared, {}, untold); !tried.ok())
      return std::move(tried).error().within(file.path());
    return {Errc::Unsupported,
            out + fmt::format("; --input-format {} reads it nevertheless", named->name),
            {},
            failures::kNotATrace};
  }
  out += named ? fmt::format("{} is written and not read", named->name)
               : std::string("it does not begin like one");
  std::string names;
  for (const Format* format : formats())
    if (format->open) names += (names.empty() ? "" : ", ") + std::string(format->name);
  return {Errc::Unsupported,
          out + fmt::format("; formats that are read: {}", names),
          {},
          failures::kNotATrace};
}

}  // namespace

Result<const Format*> find_or_sniff(const std::shared_ptr<InputFile>& file,
                                    std::string_view format_name) {
  const Bytes bytes = file->bytes();
  const Format* format = format_name.empty()
                             ? sniff_format(bytes.subspan(0, std::min(bytes.size(), kSniffBytes)))
                             : find_format(format_name);
  if (!format && !format_name.empty())
    return {Errc::InvalidArgument, fmt::format("there is no format \"{}\"", format_name),
            failures::kNoSuchFormat};
  if (!format) return why_no_trace(file);
  if (!format->open)
    return Error{Errc::Unsupported, fmt::format("format {} cannot be read", format->name), {}};
  return format;
}

Result<std::unique_ptr<Source>> open_source(std::shared_ptr<InputFile> file,
                                            std::string_view format_name,
                                            const OpenOptions& options, ProblemLog& problems,
                                            const Format** which) {
  TW_ASSIGN_OR_RETURN(const Format* const format, find_or_sniff(file, format_name));
  if (which) *which = format;
  std::string path = file->path();
  auto source = format->open(std::move(file), options, problems);
  if (!source.ok()) return std::move(source).error().within(path);
  return source;
}

}  // namespace tracewell::formats
