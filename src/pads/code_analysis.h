// CodeAnalysis: finds out what Code tells. One use each.
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
  CodeAnalysis(const CodeInput& input, Code& code) : input_(input), code_(code) {
    std::ranges::sort(data_, {}, &Area::address);
  }
  /// Why it was left off; null where it was not.
  const char* run();

 private:
  /// A function, or several that overlap.
  struct Function {
    Range range;
    bool understood = true;          // every byte belongs to an instruction
    bool register_jumps = false;     // any at all
    bool strange_jumps = false;      // not through a table
    bool has_table = false;          // names one that was recognised
    bool names_own_inside = false;   // takes the address of one of its labels
  };
  void look_at_all();
  bool left_off(uint64_t work = 1);
  uint64_t zeros_in(Range range) const;
  uint64_t cut(Range range) const;
  void take_functions();
  void keep_ahead_of(uint64_t end);
  void sweep(Function& function);
  void sweep_gap(Range gap);
  void note(const machine::CodeInstruction& instruction, uint64_t pc, Function* function);
  void note_jump(const machine::CodeInstruction& instruction, Function& function);
  void read_tables();
  /// How many entries lead to instructions; those are marked.
  size_t read_distances(uint64_t table);
  size_t read_addresses(uint64_t table);
  bool is_last_entry();
  void read_data();
  void enter_all_of(const Function& function);
  void find_padding(Range range, bool dead);
  std::optional<uint64_t> load(uint64_t address, size_t size) const;
  void mark(uint64_t address, uint8_t flag);
  void mark(Range range, uint8_t flag);
  bool is_start(uint64_t address) const { return code_.starts(address); }

  struct Named {
    uint64_t address;
    size_t function;  // its number
  };
  struct SlotJump {
    uint64_t table;
    size_t function;
  };
  machine::CodeInstruction decode(uint64_t pc) { return decoder_.decode(code_.bytes_at(pc), pc); }

  const CodeInput& input_;
  std::vector<Area> data_ = input_.data;  // in the order of addresses; a program may map much
  Code& code_;
  machine::CodeDecoder decoder_;
  std::vector<Function> functions_;  // by address, apart from each other
  std::vector<Named> named_;         // by lea
  std::vector<SlotJump> slot_jumps_;
  const char* why_ = nullptr;        // it is to be left off
  uint64_t unasked_ = 0;             // work since somebody was asked whether it is
  uint64_t entries_ = 0;             // of tables
  size_t current_ = 0;               // number of the function that is being swept
  size_t since_table_load_ = SIZE_MAX;
};

}  // namespace tracewell::pads
