// A file that stands for the trace's own, where that is in memory: an index is kept beside one.
#pragma once

#include <filesystem>
#include <fstream>

#include "base/files/beside.h"

namespace tracewell::timeline::test {

inline Original stand_in(const std::filesystem::path& path) {
  std::ofstream(path) << "stands for a trace";
  return {path.string(), *facts_at(path.string())};
}

}  // namespace tracewell::timeline::test
