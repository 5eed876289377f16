// The loader's list of loaded objects, read from the program's memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "target/ids.h"
#include "target/linux/memory/patched_memory.h"

namespace tracewell::target::live {

/// What the kernel put on the stack of the new program, as far as it is needed here.
struct AuxValues {
  uint64_t phdr = 0, phent = 0, phnum = 0, entry = 0, base = 0;
};
AuxValues parse_auxv(Bytes auxv, bool is_32_bit);

/// An entry of the list (struct link_map).
struct LoadedObject {
  uint64_t at = 0;  // of the struct
  uint64_t bias = 0;
  uint64_t dynamic = 0;
  uint64_t name_space = 0;  // address of the struct r_debug that it hangs on
  std::string name;         // "" = the main program
};

struct MainProgram {
  uint64_t bias = 0;
  uint64_t dynamic = 0;  // 0 = statically linked
  uint64_t thread_local_bytes = 0, thread_local_alignment = 0;  // of its PT_TLS; 0 = none
};
/// `tid`: any thread of the process.
MainProgram find_main_program(const PatchedMemory& memory, const AuxValues& aux, Tid tid);

/// Address of the struct r_debug: 0 = the loader has not set it up; nullopt = it never will, for
/// lack of a DT_DEBUG entry.
std::optional<uint64_t> loaders_list(const PatchedMemory& memory, const MainProgram& program);
/// Empty while the loader has not set it up.
std::vector<LoadedObject> loaded_objects(const PatchedMemory& memory, const MainProgram& program);

}  // namespace tracewell::target::live
