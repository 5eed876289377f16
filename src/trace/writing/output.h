// Where a trace is written, and what of it the file does not have.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/format.h"
#include "model/stream.h"
#include "model/work.h"

namespace tracewell::trace {

/// The names of formats that can be written.
std::vector<std::string> writable_formats();
/// The format of that name; without one, that of the name of the file. InvalidArgument says which
/// there are.
Result<const formats::Format*> output_format(std::string_view name, const std::string& path);

/// Opens `path` ("-": standard output) for `format`. InvalidArgument: it is binary, and would go to
/// a terminal.
Result<std::unique_ptr<Sink>> create_sink(const formats::Format& format, const std::string& path,
                                          const formats::SaveOptions& options = {});

/// That x64dbg looks for code of this machine in files of another name than this one.
void tell_other_name(const std::string& path, const formats::Format& format,
                     std::string_view machine, const Work& work);
/// What the sink has left out indeed, under the name of its output.
void tell_left_out(const Sink& sink, const std::string& name, const Work& work);

}  // namespace tracewell::trace
