// The build-id of a loaded object, from the notes in the program's memory: the file at its path may
// be another one by now.
#pragma once

#include <string>

#include "target/linux/memory/patched_memory.h"

namespace tracewell::target::live {

/// Hex; "" = none. `start`: where the object's first page is mapped; `bias`: what to add to its own
/// addresses.
std::string build_id_in_memory(const PatchedMemory& memory, uint64_t start, uint64_t bias);

/// What Go's linker notes instead (cmd/internal/buildid of the Go tools), likewise.
std::string go_build_id_in_memory(const PatchedMemory& memory, uint64_t start, uint64_t bias);

}  // namespace tracewell::target::live
