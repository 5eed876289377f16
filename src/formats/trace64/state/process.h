// Whose a trace is: a user block of ours, behind its last step. What x64dbg itself writes does not
// say it.
#pragma once

#include <optional>
#include <vector>

#include "base/bytes.h"
#include "formats/trace64/scan/contents.h"
#include "formats/trace64/scan/places.h"
#include "model/process.h"

namespace tracewell::formats::trace64 {

std::vector<uint8_t> render_process(const Process& process);
/// nullopt: it is cut.
std::optional<Process> read_process(Bytes data);
/// Does this block say whose all steps are? It does not where steps were appended behind it.
bool is_of_process(const Contents& contents, const UserBlock& block);
/// As a catalog has it: one, or none.
std::vector<Process> find_process(const Contents& contents);

}  // namespace tracewell::formats::trace64
