// What a planner of pads wants to know of a process: the code around an address, and what of the
// address space is taken.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/zeroed.h"
#include "pads/code.h"
#include "pads/sweep.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/memory/patched_memory.h"

namespace tracewell::target::live {

/// The bytes that a CodeInput speaks of.
struct CodeFacts {
  pads::CodeInput input;
  ZeroedBytes code;
  uint64_t code_bytes = 0;  // those of it that take memory
  std::vector<std::vector<uint8_t>> data;
  /// The language of code that runs on stacks which may have no room for a hit; "" = it does not.
  std::string_view small_stacks;
};

/// What to do when a program has more code than anybody waits for, or there is room for.
struct CodeBounds {
  std::function<bool()> stop;  // is the server to end? May be empty
  uint64_t code_max = 0;       // bytes that are not all zeros
};

/// Of the executable mapping that holds the address, which belongs to a 64-bit ELF image.
Result<CodeFacts> code_around(const PatchedMemory& memory, const std::vector<Mapping>& maps,
                              uint64_t address, const CodeBounds& bounds);

/// What has been found out about code, by where it begins.
using KnownCode = std::map<uint64_t, pads::Known>;

/// The restartable sequences of an image.
struct Sequences {
  MappingsPrint image{};  // as it was mapped when they were looked for
  std::vector<pads::Range> ranges;  // as pads::RestartableSequences has them
  std::vector<uint64_t> starts;
};
using KnownSequences = std::map<uint64_t, Sequences>;  // by where its code begins

/// Does the instruction there belong to a restartable sequence of its image? What was found out of
/// an image is kept in `known`. An error when `stop` (may be empty) says that the server is to end.
Result<bool> in_restartable_sequence(const PatchedMemory& memory, KnownSequences& known,
                                     const std::vector<Mapping>& maps, uint64_t address,
                                     const std::function<bool()>& stop);

/// What a process has of its address space.
struct AddressLayout {
  std::vector<Mapping> maps;
  uint64_t heap = 0;  // where it begins, also while it is empty (brk); 0 = not known
};
/// Without mappings when they cannot be read, or `gives_up` (may be empty) says so.
AddressLayout layout_of(Tid tid, const std::function<bool()>& gives_up);

/// What is not for others: what is mapped, and where stacks and the heap may grow. In order of
/// where they begin; they may overlap.
std::vector<pads::Range> taken_in(const AddressLayout& layout);

}  // namespace tracewell::target::live
