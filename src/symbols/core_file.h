// What a core file has of a process's memory: which bytes, and which files were mapped.
#pragma once

#include <cstdint>
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
  std::string_view path;  // as the kernel tells it; " (deleted)" at its end when the file was gone
};

struct CoreFile {
  std::vector<CoreMemory> memory;
  std::vector<CoreMapping> mappings;  // the note NT_FILE
};

/// Corrupt when this is no core file. Spans into `bytes`.
Result<CoreFile> read_core_file(Bytes bytes);

}  // namespace tracewell::symbols
