// The JSON form of teemu-l's execution trace viewer: one object that names the registers, with a
// list of rows, each of which shows all of them before its instruction. docs/formats/tvt.md
#pragma once

#include <string_view>

#include "formats/format.h"

namespace tracewell::formats {

/// Extras of a catalog that begin so hold a member of the object that is no trace's: its text.
constexpr std::string_view kTvtExtra = "tvt.";
/// Is this a member of the object that means something here?
bool is_tvt_member(std::string_view name);

/// The viewer's binary form, whose layout nobody has published.
bool is_binary_tvt(Bytes head);
bool sniff_tvt(Bytes head);
Result<std::unique_ptr<Source>> open_tvt(std::shared_ptr<InputFile> file,
                                         const OpenOptions& options, ProblemLog& problems);
Result<std::unique_ptr<Sink>> create_tvt(OutputFile file, const SaveOptions& options);

}  // namespace tracewell::formats
