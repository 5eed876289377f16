// The build-id of a loaded object, from the notes in the program's memory: the file at its path may
// be another one by now.
#pragma once

#include <functional>
#include <string>

#include "base/bytes.h"
#include "target/linux/address_space.h"

namespace tracewell::target::live {

/// Hex; "" = none. `start`: where the object's first page is mapped; `bias`: what to add to its own
/// addresses.
std::string build_id_in_memory(const AddressSpace& space, uint64_t start, uint64_t bias);

/// Is it the work of Go's compiler? Its code runs on stacks of 2 KiB that nothing guards.
bool made_by_go(const AddressSpace& space, uint64_t start, uint64_t bias);

/// Is there code of OCaml's compiler in it? As of OCaml 5 it runs on stacks within the heap, of
/// which a function that checks them leaves 256 bytes to others. `stop`: is the server to end? May
/// be empty; nothing is known then.
bool made_by_ocaml(Bytes code, const std::function<bool()>& stop);

}  // namespace tracewell::target::live
