// Tenet's text logs: a line for each executed instruction, with the registers that differ from the
// line before, and what the instruction read and wrote. docs/formats/tenet.md
#pragma once

#include <span>
#include <string_view>

#include "formats/format.h"

namespace tracewell::formats {

/// The registers that Tenet knows, the program counter last; empty for machines that it does not.
std::span<const std::string_view> tenet_registers(std::string_view machine);

bool sniff_tenet(Bytes head);
Result<std::unique_ptr<Source>> open_tenet(std::shared_ptr<InputFile> file,
                                           const OpenOptions& options, ProblemLog& problems);
Result<std::unique_ptr<Sink>> create_tenet(OutputFile file, const SaveOptions& options);

}  // namespace tracewell::formats
