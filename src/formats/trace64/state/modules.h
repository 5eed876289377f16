// Modules of a trace that its header does not say: it has one path, and no places.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "formats/trace64/scan/contents.h"
#include "model/catalog.h"
#include "model/problem.h"

namespace tracewell::formats::trace64 {

/// A user block of ours for each of the modules, unless `header` (a file's head) says all of them.
/// Returns how many blocks these are.
uint64_t append_modules(std::vector<uint8_t>& out, const std::vector<Module>& modules,
                        std::string_view header);

/// What the header says: one module, or none.
std::vector<Module> modules_of(std::string_view path, std::optional<uint64_t> hash);
/// Of a block's data. nullopt: it is cut; a module has a path, which comes last.
std::optional<Module> read_module(Bytes data);
/// What blocks of ours say, or else the header. Tells `problems`, if any, of blocks that are cut.
std::vector<Module> find_modules(const Contents& contents, ProblemLog* problems);

}  // namespace tracewell::formats::trace64
