// CodeAnalysis: finds out what Code tells beyond its sweep. One use each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "machine/code_instruction.h"
#include "pads/code.h"

namespace tracewell::pads {

class CodeAnalysis {
 public:
  CodeAnalysis(const CodeInput& input, Code& code)
      : input_(input),
        code_(code),
        sweep_(*code.sweep_),
        has_table_(sweep_.functions().size()),
        strange_(sweep_.functions().size()) {
    std::ranges::sort(data_, {}, &Area::address);
  }
  /// Why it was left off; null where it was not.
  const char* run();

 private:
  void look_at_all();
  bool left_off(uint64_t work = 1);
  void keep_ahead_of(uint64_t end);
  void read_tables();
  /// How many entries lead to instructions; those are marked.
  size_t read_distances(uint64_t table);
  size_t read_addresses(uint64_t table);
  bool is_last_entry();
  void read_data();
  void enter_all_of(const Sweep::Function& function);
  void take_padding();
  void find_padding();
  void find_padding(Range range);
  void find_padding_ahead(Range range);
  void mark_found(Range range, uint8_t flag);
  bool leads_nowhere(Range instruction, bool dead, bool is_filler, bool ends);
  std::optional<uint64_t> load(uint64_t address, size_t size) const;
  void mark(uint64_t address, uint8_t flag);
  void mark(Range range, uint8_t flag);
  bool is_start(uint64_t address) const { return code_.starts(address); }

  machine::CodeInstruction decode(uint64_t pc) const {
    return machine::decode_code(code_.bytes_at(pc), pc);
  }

  const CodeInput& input_;
  std::vector<Area> data_ = input_.data;  // in the order of addresses; a program may map much
  Code& code_;
  const Sweep& sweep_;
  Padding* padding_ = nullptr;    // that is being found
  std::vector<bool> has_table_;   // of functions: it names one that was recognised
  std::vector<bool> strange_;     // it jumps through slots that hold no addresses of code
  const char* why_ = nullptr;     // it is to be left off
  uint64_t unasked_ = 0;          // work since somebody was asked whether it is
  uint64_t entries_ = 0;          // of tables
};

}  // namespace tracewell::pads
