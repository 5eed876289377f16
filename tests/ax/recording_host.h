// A host for tests: memory, registers and variables are maps; what the bytecode does to the outside
// is written down as text, in order.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ax/interpret.h"

namespace tracewell::ax {

struct RecordingHost {
  Endian order = Endian::Little;
  std::map<uint64_t, uint8_t> memory;
  std::map<unsigned, uint64_t> registers;
  std::map<unsigned, uint64_t> variables;
  std::vector<std::string> log;

  Endian endian() const { return order; }

  bool readable(uint64_t address, uint64_t size) const {
    for (uint64_t i = 0; i < size; ++i)
      if (!memory.contains(address + i)) return false;
    return true;
  }
  bool read_memory(uint64_t address, void* to, size_t size) const {
    if (!readable(address, size)) return false;
    for (size_t i = 0; i < size; ++i) static_cast<uint8_t*>(to)[i] = memory.at(address + i);
    return true;
  }
  bool read_register(unsigned number, uint64_t& value) const {
    const auto found = registers.find(number);
    if (found != registers.end()) value = found->second;
    return found != registers.end();
  }
  uint64_t get_variable(unsigned number) const {
    const auto found = variables.find(number);
    return found == variables.end() ? 0 : found->second;
  }
  void set_variable(unsigned number, uint64_t value) {
    if (variables.contains(number)) variables[number] = value;
    log.push_back(fmt::format("set {} {}", number, value));
  }
  bool trace_memory(uint64_t address, uint64_t size) {
    if (!readable(address, size)) return false;
    log.push_back(fmt::format("trace {:#x} {}", address, size));
    return true;
  }
  bool trace_string(uint64_t address, uint64_t max) {
    if (!readable(address, 1)) return false;
    log.push_back(fmt::format("string {:#x} {}", address, max));
    return true;
  }
  bool trace_variable(unsigned number) {
    if (!variables.contains(number)) return false;
    log.push_back(fmt::format("tracev {}", number));
    return true;
  }
  bool print(uint64_t function, uint64_t channel, const char* format,
             std::span<const uint64_t> arguments) {
    if (*format == 0) return false;
    std::string line = fmt::format("print {:#x} {:#x} \"{}\"", function, channel, format);
    for (const uint64_t argument : arguments) line += fmt::format(" {:#x}", argument);
    log.push_back(line);
    return true;
  }
};

}  // namespace tracewell::ax
