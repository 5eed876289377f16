// What a core file has of a process's memory: which bytes, and which files were mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace tracewell::symbols {

struct CoreMemory {
  uint64_t address = 0;
  Bytes bytes;  // that are in the file; fewer than there were in memory when it was cut
};

struct CoreMapping {
  uint64_t begin = 0, end = 0;
  uint64_t offset = 0;  // in the file, bytes
  std::string path;  // as the kernel tells it; " (deleted)" at its end when the file was gone
};

/// So many mappings are kept: more than a process may have where nobody has raised
/// vm.max_map_count.
constexpr size_t kCoreMappingsMax = 65'536;
/// So many program headers are looked at: twice the vm.max_map_count that distributions set for
/// programs with many mappings. Each mapping has one.
constexpr size_t kCoreSegmentsMax = size_t{1} << 21;
/// And so many bytes of notes: 90 000 threads have less, with all registers of large processors.
constexpr uint64_t kCoreNoteBytesMax = uint64_t{1} << 30;

struct CoreFile {
  std::vector<CoreMemory> memory;     // in the order of the file; no byte of it is in two of them
  std::vector<CoreMapping> mappings;  // the notes NT_FILE
  std::optional<uint32_t> process;    // whose core this is, by the note NT_PRPSINFO
  std::vector<std::string> left_out;  // sentences: what was not looked at, where, and why
};

/// Of mappings, only those whose paths have `wanted` in them. Corrupt when this is no core file.
/// Memory is spans of `bytes`, which others may write to meanwhile. Time is that of looking once at
/// each header and at each byte of notes; that, and what it makes, is bounded as is said above.
Result<CoreFile> read_core_file(Bytes bytes, std::string_view wanted);

}  // namespace tracewell::symbols
