// Compilers whose code runs on stacks that have no room for what a signal handler would take. A hit
// of a fast tracepoint takes as much.
#pragma once

#include <functional>

#include "base/bytes.h"
#include "target/linux/memory/patched_memory.h"

namespace tracewell::target::live {

/// Is it the work of Go's compiler? Its code runs on stacks of 2 KiB that nothing guards.
/// `start`: where the object's first page is mapped; `bias`: what to add to its own addresses.
bool made_by_go(const PatchedMemory& memory, uint64_t start, uint64_t bias);

/// Is there code of OCaml's compiler in it? As of OCaml 5 it runs on stacks within the heap, of
/// which a function that checks them leaves 256 bytes to others. `stop`: is the server to end? May
/// be empty; nothing is known then.
bool made_by_ocaml(Bytes code, const std::function<bool()>& stop);

}  // namespace tracewell::target::live
