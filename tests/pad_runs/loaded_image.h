// What a planner of pads wants to know of this very process: the code of one of its images as it
// lies in memory, and what of the address space is taken.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <elf.h>
#include <link.h>

#include "pads/code.h"
#include "pads/space.h"
#include "symbols/elf/unwind_table.h"

namespace tracewell::pads {

struct LoadedImage {
  std::string name;
  Range code;  // its executable segment
  std::vector<symbols::UnwindRange> functions;
  std::vector<uint64_t> handlers;
  std::vector<Area> data;

  CodeInput input() const {
    CodeInput input;
    input.code = {code.start, Bytes(reinterpret_cast<const uint8_t*>(code.start),
                                    code.end - code.start)};
    for (const auto& function : functions)
      input.functions.push_back({function.start, function.end});
    input.entries = handlers;
    input.data = data;
    return input;
  }
  Range function_around(uint64_t address) const {
    for (const auto& function : functions)
      if (address >= function.start && address < function.end)
        return {function.start, function.end};
    return {};
  }
};

inline Bytes memory_at(uint64_t address, uint64_t end) {
  return {reinterpret_cast<const uint8_t*>(address), end - address};
}

/// The image whose code holds the address; empty when there is none.
inline LoadedImage image_around(uint64_t address) {
  struct Look {
    uint64_t address;
    LoadedImage found;
  } look{address, {}};
  const auto visit = [](dl_phdr_info* info, size_t, void* context) {
    auto& mine = *static_cast<Look*>(context);
    LoadedImage image;
    image.name = info->dlpi_name;
    uint64_t header = 0, header_end = 0;
    for (const auto& segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
      const uint64_t start = info->dlpi_addr + segment.p_vaddr, end = start + segment.p_memsz;
      if (segment.p_type == PT_GNU_EH_FRAME) {
        header = start;
        header_end = end;
      }
      if (segment.p_type != PT_LOAD) continue;
      if ((segment.p_flags & PF_X) != 0)
        image.code = {start, end};
      else if ((segment.p_flags & PF_R) != 0)
        image.data.push_back({start, memory_at(start, end)});
    }
    if (!image.code.holds(mine.address) || header == 0) return 0;
    const uint64_t table = symbols::unwind_table_of(memory_at(header, header_end), header);
    for (const Area& area : image.data) {
      const uint64_t end = area.address + area.bytes.size();
      if (table < area.address || table >= end) continue;
      symbols::each_unwind_range(memory_at(table, end), table, [&](const auto& range) {
        image.functions.push_back(range);
        return true;
      });
    }
    symbols::Work work(UINT64_MAX);
    for (const auto& function : image.functions)
      for (const Area& area : image.data)
        if (function.handlers >= area.address &&
            function.handlers < area.address + area.bytes.size())
          for (const uint64_t handler : symbols::read_handlers(
                   memory_at(function.handlers, area.address + area.bytes.size()),
                   function.handlers, function.start, work))
            image.handlers.push_back(handler);
    mine.found = std::move(image);
    return 1;
  };
  dl_iterate_phdr(visit, &look);
  return look.found;
}

/// All mappings of this process, and where its stack and heap may grow.
inline std::vector<Range> taken_here() {
  constexpr uint64_t kStackGrowth = uint64_t{16} << 20, kHeapGrowth = uint64_t{256} << 20;
  std::vector<Range> taken;
  FILE* maps = std::fopen("/proc/self/maps", "re");
  char line[4400];
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long start = 0, end = 0;
    if (std::sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
    if (std::strstr(line, "[stack]") != nullptr) start -= kStackGrowth;
    if (std::strstr(line, "[heap]") != nullptr) end += kHeapGrowth;
    taken.push_back({start, end});
  }
  if (maps != nullptr) std::fclose(maps);
  return taken;
}

}  // namespace tracewell::pads
