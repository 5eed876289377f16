// What of this very process may be loaded from.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "ring/readable_ranges.h"

namespace tracewell::fast {

inline std::vector<tracewell_range> readable_here() {
  std::vector<tracewell_range> out;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    char* end = nullptr;
    const uint64_t from = std::strtoull(line.c_str(), &end, 16);
    const uint64_t to = std::strtoull(end + 1, &end, 16);
    if (end[1] == 'r' && line.find("[v") == std::string::npos) out.push_back({from, to});
  }
  return out;
}

}  // namespace tracewell::fast
