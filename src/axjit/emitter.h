// Emits the code of one expression, instruction by instruction, in the order of the bytecode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "ax/decode.h"
#include "ax/fault.h"
#include "axjit/assembler.h"
#include "axjit/flow.h"
#include "axjit/native_code.h"
#include "axjit/values.h"

namespace tracewell::axjit {

class Emitter {
 public:
  /// All are borrowed. `frame` is how much of the stack the code may use; used() says afterwards
  /// what it needed.
  Emitter(ax::Code code, const Flow& flow, const Surroundings& surroundings, const FrameUse& frame,
          std::span<uint8_t> buffer)
      : code_(code),
        flow_(flow),
        surroundings_(surroundings),
        counted_(flow.loops || flow.reached.size() > surroundings.budget),
        as_(buffer, frame),
        values_(as_) {}

  /// Throws Xbyak::Error.
  void emit();

  const FrameUse& used() const { return as_.used(); }
  /// All but `code`, once it has been emitted.
  Native result() const;
  size_t size_bytes() const { return as_.getSize(); }

 private:
  struct FaultExit {
    Xbyak::Label label;
    ax::Fault fault = ax::Fault::None;
    size_t offset = 0;
  };
  /// A load of `size_bytes` from `base` + `displacement`; it goes to `label` when it faults.
  struct LoadExit {
    Xbyak::Label label;
    Reg64 base;
    int32_t displacement = 0;
    size_t size_bytes = 0;
    size_t offset = 0;
  };

  // emitter.cc: the frame around the instructions, and control flow
  void enter();
  void begin_instruction();
  void instruction();
  void count();
  void do_goto();
  void do_if_goto();
  void do_end() { finish(at_.offset); }
  void branch_if(Condition condition);
  void finish(size_t offset);
  void give_back(uint64_t status);
  void go_out();

  // exits.cc: what stands behind the instructions
  Xbyak::Label& on_fault(ax::Fault fault);
  void always(ax::Fault fault);
  void emit_exits();
  void emit_load_exits();
  void emit_texts();

  // arithmetic.cc
  using Fold = uint64_t (*)(uint64_t, uint64_t);
  bool folded(Fold fold);
  void add_constant(Value& value, uint64_t constant);
  void do_add();
  void do_sub();
  void do_mul();
  void do_bit_and();
  void do_bit_or();
  void do_bit_xor();
  void shift(Fold fold, ax::Opcode opcode);
  void shift_by(const Reg64& value, uint64_t count, ax::Opcode opcode);
  void do_lsh();
  void do_rsh_signed();
  void do_rsh_unsigned();
  void divide(Fold fold, bool is_signed, bool remainder);
  void do_div_signed();
  void do_div_unsigned();
  void do_rem_signed();
  void do_rem_unsigned();

  // values_only.cc: comparisons, extensions, and what moves values about
  void compare(Condition condition, Fold fold);
  Condition test_top();
  void do_equal();
  void do_less_signed();
  void do_less_unsigned();
  void do_log_not();
  void do_bit_not();
  void do_ext();
  void do_zero_ext();
  void do_const8() { values_.push(Value::of(at_.operand)); }
  void do_const16() { do_const8(); }
  void do_const32() { do_const8(); }
  void do_const64() { do_const8(); }
  void do_dup();
  void do_pick();
  void do_pop() { values_.drop(); }
  void do_swap();
  void do_rot();

  // outside.cc: registers, memory and variables
  const VariablePlace* variable() const;
  void do_reg();
  void fetch(size_t size_bytes);
  void load_directly(Value& address, size_t size_bytes);
  void load_by_call(const Value& address, size_t size_bytes);
  void do_ref8() { fetch(1); }
  void do_ref16() { fetch(2); }
  void do_ref32() { fetch(4); }
  void do_ref64() { fetch(8); }
  void do_getv();
  void do_setv();
  void update(const Update& pair, const VariablePlace& place);

  // calls.cc: what the surroundings do
  void call(size_t entry);
  void call_or(size_t entry, ax::Fault fault);
  void get_computed(uint64_t number);
  void record(size_t entry);
  void record_at_top(uint64_t size);
  void do_trace();
  void do_trace_quick() { record_at_top(at_.operand); }
  void do_trace16() { record_at_top(at_.operand); }
  void do_tracenz();
  void do_tracev();
  void do_printf();

  ax::Code code_;
  const Flow& flow_;
  const Surroundings& surroundings_;
  bool counted_;  // it can come to the end of its budget
  Assembler as_;
  Values values_;

  ax::Instruction at_;    // the one that is being emitted
  bool live_ = true;      // control can come to this point of the code
  bool calls_ = false;
  size_t skip_ = SIZE_MAX;  // an instruction that the one before it has done as well
  std::map<size_t, Xbyak::Label> labels_;  // of branch targets, by offset
  std::map<size_t, Xbyak::Label> again_;   // of updates, by offset of the getv
  std::map<std::string_view, Xbyak::Label> texts_;
  Xbyak::Label end_;                       // of all of the code
  std::deque<FaultExit> fault_exits_;
  std::deque<LoadExit> load_exits_;
  std::vector<uint32_t> load_offsets_;  // of the loads of load_exits_, and of the probe
  std::vector<uint32_t> resume_offsets_;
};

}  // namespace tracewell::axjit
