// What is run while its functions lead through pads, and what it does without any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/code_instruction.h"
#include "pad_runs/loaded_image.h"
#include "pad_runs/stepper.h"
#include "pads/code.h"

namespace tracewell::pads {
namespace {

template <class Function>
uint64_t address_of(Function* function) {
  return reinterpret_cast<uint64_t>(function);
}

struct Workload {
  uint64_t (*run)();
  std::vector<uint64_t> functions;  // an address in each
  bool and_callees = false;         // and all others of the same image that are executed
};

/// The instructions of the functions, in order of addresses, and how often each is executed.
struct Reference {
  explicit Reference(const Workload& workload)
      : image(image_around(workload.functions.front())), code(image.input()) {
    workload.run();  // what is bound at its first call is bound now
    result = workload.run();
    counting = this;
    catch_traps();
    const size_t bytes = code.range().end - code.range().start;
    numbers.resize(bytes);
    std::vector<uint64_t> functions = workload.functions;
    if (workload.and_callees) {
      for (uint32_t i = 0; i < bytes; ++i) numbers[i] = i + 1;
      counts.resize(bytes);
      stepped(workload.run, count);
      for (size_t i = 0; i < bytes; ++i)
        if (counts[i] != 0) functions.push_back(code.range().start + i);
      counts.clear();
      numbers.assign(bytes, 0);
    }
    take_sites(functions);
    counts.resize(sites.size());
    const uint64_t again = stepped(workload.run, count);
    if (again != result) result = ~again;
  }
  /// Number of a site plus one; 0 = it is none.
  uint32_t number(uint64_t pc) const {
    return code.range().holds(pc) ? numbers[pc - code.range().start] : 0;
  }

  LoadedImage image;
  Code code;
  std::vector<uint64_t> sites;
  std::vector<uint32_t> numbers;
  std::vector<uint64_t> counts;
  uint64_t result = 0;

 private:
  void take_sites(const std::vector<uint64_t>& functions) {
    Range last;
    for (const uint64_t function : functions) {
      if (last.holds(function)) continue;
      last = image.function_around(function);
      for (uint64_t at = last.start; at < last.end; ++at)
        if (code.starts(at)) sites.push_back(at);
    }
    std::sort(sites.begin(), sites.end());
    sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
    for (size_t i = 0; i < sites.size(); ++i)
      numbers[sites[i] - code.range().start] = static_cast<uint32_t>(i + 1);
  }
  /// A repeated string instruction stops at each round.
  bool repeats(uint64_t pc) const {
    const Bytes bytes = code.bytes_at(pc);
    if (bytes[0] != 0xf3 && bytes[0] != 0xf2) return false;
    const uint8_t opcode = (bytes[1] & 0xf0) == 0x40 ? bytes[2] : bytes[1];
    return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf);
  }
  static void count(ucontext_t& now) {
    Reference& self = *counting;
    const auto pc = static_cast<uint64_t>(now.uc_mcontext.gregs[REG_RIP]);
    const uint32_t number = self.number(pc);
    if (number != 0 && (pc != self.last_ || !self.repeats(pc))) ++self.counts[number - 1];
    self.last_ = pc;
  }
  uint64_t last_ = 0;
  static inline Reference* counting = nullptr;
};

}  // namespace
}  // namespace tracewell::pads
