#include "axjit/hit_body.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "axjit/assembler.h"
#include "base/check.h"
#include "base/endian.h"
#include "ring/frame_ring.h"
#include "ring/readable_ranges.h"

namespace tracewell::axjit {
namespace {

constexpr uint32_t kGenerals = 16;
constexpr uint32_t kRax = 0, kRcx = 1, kRdx = 2, kRsp = 4, kRdi = 7;
constexpr uint32_t kOutcome = 1u << kRax | 1u << kRdx;
constexpr uint16_t kCallee = 0b1111'0000'0010'1000;  // rbx, rbp, r12 to r15
constexpr uint16_t kCaller = static_cast<uint16_t>(~(kCallee | 1u << kRsp));
constexpr uint32_t kArithmetic = 0x8d5;              // OF SF ZF AF PF CF
constexpr uint32_t kOverflow = 11;
constexpr uint32_t kDirectionOrAlignment = 0x40400;
constexpr uint32_t kTrap = 0x100;  // the tracer's, when it steps
constexpr size_t kBodyBytes = 1024;
constexpr int kMemoryHead = 11;  // of its block in a record

constexpr int32_t at_register(uint32_t general) {
  return static_cast<int32_t>(offsetof(tracewell_hit, registers) + general * sizeof(uint64_t));
}

class BodyEmitter {
 public:
  BodyEmitter(const HitSpec& spec, std::span<uint8_t> buffer)
      : spec_(spec), as_(buffer, FrameUse{}) {}

  Result<HitBody> emit() {
    as_.lea(as_.rsp, qword(-static_cast<int32_t>(sizeof(tracewell_hit))));
    store(kRax);
    as_.lahf();
    as_.seto(as_.al);
    as_.mov(qword(offsetof(tracewell_hit, arithmetic_flags)), as_.rax);
    saved_ = uint16_t{1} << kRax;
    if (spec_.condition.size() != 0) {
      TW_RETURN_IF_ERROR(ask_condition());
    } else {
      as_.mov(qword(offsetof(tracewell_hit, condition_status)), 0);
    }
    collect();
    TW_RETURN_IF_ERROR(add_expressions());
    HitBody body;
    if (!spec_.memory.empty() && (loads_as_it_comes() || spec_.addresses.ranges != 0))
      body.fill = add_fill();
    as_.ready();
    body.code.assign(as_.getCode(), as_.getCode() + as_.getSize());
    body.loads = std::move(loads_);
    body.collected = std::move(collected_);
    body.stack_bytes =
        static_cast<uint32_t>(kRedZone + 2 * sizeof(uint64_t) + sizeof(tracewell_hit)) + deepest_;
    return body;
  }

 private:
  Xbyak::Address qword(size_t offset) { return as_.qword[as_.rsp + static_cast<int>(offset)]; }
  Xbyak::Address qword(int32_t offset) { return as_.qword[as_.rsp + offset]; }
  static Reg64 general(uint32_t number) { return Reg64(static_cast<int>(number)); }
  void store(uint32_t number) { as_.mov(qword(at_register(number)), general(number)); }
  void load(uint32_t number) { as_.mov(general(number), qword(at_register(number))); }
  /// Always the long form, so that a body's length does not depend on where things are.
  void load_address(uint64_t address) {
    as_.db(0x48);
    as_.db(0xb8);  // mov $address, %rax
    as_.dq(address);
  }
  void store_address(size_t offset, uint64_t address) {
    load_address(address);
    as_.mov(qword(offset), as_.rax);
  }

  /// Those of `registers` that were not saved yet; the stack pointer by what it was.
  void save(uint16_t registers) {
    for (uint32_t number = 0; number < kGenerals; ++number) {
      if (number == kRsp || (registers & ~saved_ & 1u << number) == 0) continue;
      store(number);
    }
    if ((registers & ~saved_ & 1u << kRsp) != 0) {
      as_.lea(as_.rax, qword(static_cast<int32_t>(sizeof(tracewell_hit) + sizeof(uint64_t)) +
                             kRedZone));
      as_.mov(qword(at_register(kRsp)), as_.rax);
    }
    saved_ |= registers;
  }

  void save_pc() { store_address(offsetof(tracewell_hit, rip), spec_.pc); }

  /// As they are now, in eax too.
  void save_present_flags() {
    as_.pushfq();
    as_.pop(as_.rax);
    as_.mov(qword(offsetof(tracewell_hit, eflags)), as_.rax);
  }

  /// Which the arithmetic of ours has changed meanwhile: as they were.
  void save_flags() {
    save_present_flags();
    as_.and_(as_.eax, ~(kArithmetic | kTrap));
    as_.movzx(as_.ecx, as_.word[as_.rsp + static_cast<int>(
                                              offsetof(tracewell_hit, arithmetic_flags))]);
    as_.movzx(as_.edx, as_.cl);
    as_.shr(as_.ecx, 8);
    as_.shl(as_.edx, kOverflow);
    as_.or_(as_.eax, as_.ecx);
    as_.or_(as_.eax, as_.edx);
    as_.mov(qword(offsetof(tracewell_hit, eflags)), as_.rax);
  }

  void restore_flags() {
    as_.mov(as_.rax, qword(offsetof(tracewell_hit, arithmetic_flags)));
    as_.add(as_.al, 0x7f);
    as_.sahf();
  }

  Result<Native> native(ax::Code code, ax::Purpose purpose, bool falls_out = false) {
    const Surroundings surroundings{.registers = spec_.registers,
                                    .variables = spec_.variables,
                                    .memory_reads = spec_.memory_reads,
                                    .falls_out = falls_out};
    return compile(code, purpose, surroundings);
  }

  void add_code(const Native& native) {
    const auto begin = static_cast<uint32_t>(as_.getSize());
    for (const FaultingLoad& one : native.loads)
      loads_.push_back({begin + one.load, begin + one.resume});
    for (const uint8_t byte : native.code) as_.db(byte);
    deepest_ = std::max(deepest_, native.stack_bytes);
  }

  /// By place_in_hit()'s numbers, as bits.
  uint32_t registers_of(const Needs& needs) const {
    uint32_t bits = 0;
    for (const uint32_t wanted : needs.registers)
      for (const RegisterPlace& place : spec_.registers)
        for (uint32_t which = 0; which <= kEflags; ++which)
          if (place.number == wanted && place.offset == place_in_hit(0, which).offset)
            bits |= 1u << which;
    return bits;
  }

  Status ask_condition() {
    TW_ASSIGN_OR_RETURN(const Needs needs, survey(spec_.condition, ax::Purpose::Condition));
    TW_ASSIGN_OR_RETURN(const Native condition,
                        native(spec_.condition, ax::Purpose::Condition, true));
    const uint32_t reads = registers_of(needs);
    const bool reads_flags = (reads >> kEflags & 1) != 0;
    const auto changes = static_cast<uint16_t>(condition.clobbers | kOutcome | 1u << kRdi |
                                               (reads_flags ? 1u << kRcx : 0u));
    const bool loads = !condition.loads.empty();
    if (loads) leave_without_reader();
    save(static_cast<uint16_t>(changes | reads));
    Xbyak::Label odd, ready, odd_at_end, done;
    if (reads_flags) save_flags();
    else if (loads) save_present_flags();
    if (loads) jump_if_odd(as_.eax, odd);
    as_.L(ready);
    if ((reads >> kRip & 1) != 0) save_pc();
    if (!needs.variables.empty() || condition.calls) set_context();
    as_.mov(as_.rdi, as_.rsp);
    add_code(condition);
    if (loads) jump_if_odd(present_flags(), odd_at_end);
    as_.L(done);
    as_.movzx(as_.edx, as_.dl);
    as_.or_(as_.rax, as_.rdx);
    as_.jnz(holds_, Xbyak::CodeGenerator::T_NEAR);
    restore_flags();
    for (uint32_t number = 0; number < kGenerals; ++number)
      if (number != kRsp && (changes >> number & 1) != 0) load(number);
    leave();
    if (loads) even_and_odd(odd, ready, odd_at_end, done);
    as_.L(holds_);
    as_.mov(qword(offsetof(tracewell_hit, condition_status)), as_.rdx);
    return {};
  }

  /// Once its tracer is gone, a load that fails would be the program's end. Only rax is saved yet.
  void leave_without_reader() {
    if (spec_.addresses.reader == 0) return;
    Xbyak::Label there;
    load_address(spec_.addresses.reader);
    as_.test(as_.dword[as_.rax], TRACEWELL_READER);
    as_.jnz(there, Xbyak::CodeGenerator::T_NEAR);
    restore_flags();
    load(kRax);
    leave();
    as_.L(there);
  }

  void set_context() {
    store_address(offsetof(tracewell_hit, context.variables), spec_.addresses.variables);
    store_address(offsetof(tracewell_hit, context.calls), spec_.addresses.calls);
    store_address(offsetof(tracewell_hit, plan), spec_.addresses.plan);
  }

  void leave() {
    as_.lea(as_.rsp, qword(static_cast<int32_t>(sizeof(tracewell_hit))));
    as_.ret(kRedZone);
  }

  void collect() {
    Xbyak::Label odd, call, odd_at_end, end;
    const bool asks = !spec_.collected.empty();
    save(spec_.all_registers || asks ? 0xffff : kCaller);
    asks ? save_flags() : save_present_flags();
    jump_if_odd(as_.eax, odd);
    as_.L(call);
    if (asks) {
      save_pc();
      set_context();
    } else {
      store_address(offsetof(tracewell_hit, plan), spec_.addresses.plan);
    }
    as_.mov(as_.rdi, as_.rsp);
    load_address(spec_.addresses.collect);
    as_.call(as_.rax);
    jump_if_odd(present_flags(), odd_at_end);
    as_.L(end);
    restore_flags();
    for (uint32_t number = 0; number < kGenerals; ++number)
      if (number != kRsp && (kCallee >> number & 1) == 0) load(number);
    leave();
    even_and_odd(odd, call, odd_at_end, end);
  }

  /// As save_flags() or save_present_flags() have left them; in eax too.
  Xbyak::Address present_flags() {
    return as_.dword[as_.rsp + static_cast<int>(offsetof(tracewell_hit, eflags))];
  }

  /// Where memory cannot be read as it comes.
  void jump_if_odd(const Xbyak::Operand& flags, Xbyak::Label& label) {
    as_.test(flags, kDirectionOrAlignment);
    as_.jnz(label, Xbyak::CodeGenerator::T_NEAR);
  }

  /// From `odd` back to `ready` with flags as ours need them, and from `odd_at_end` to `done` with
  /// the program's.
  void even_and_odd(Xbyak::Label& odd, Xbyak::Label& ready, Xbyak::Label& odd_at_end,
                    Xbyak::Label& done) {
    as_.L(odd);
    as_.and_(present_flags(), ~kTrap);
    as_.push(2);
    as_.popfq();
    as_.jmp(ready, Xbyak::CodeGenerator::T_NEAR);
    as_.L(odd_at_end);
    as_.push(qword(offsetof(tracewell_hit, eflags)));
    as_.popfq();
    as_.jmp(done, Xbyak::CodeGenerator::T_NEAR);
  }

  Status add_expressions() {
    for (const ax::Code code : spec_.collected) {
      TW_ASSIGN_OR_RETURN(const Native one, native(code, ax::Purpose::Action));
      as_.align(16);
      collected_.push_back(static_cast<uint32_t>(as_.getSize()));
      add_code(one);
    }
    return {};
  }

  bool loads_as_it_comes() const { return spec_.memory_reads == MemoryReads::Direct; }

  /// Where no register is added to it.
  std::optional<uint64_t> constant_address(const tracewell_step& step) const {
    if (step.base == TRACEWELL_REGISTER_RIP) return spec_.pc + step.value;
    return step.base < kGenerals ? std::nullopt : std::optional(step.value);
  }

  /// The address that the step names, to rax.
  void compute_address(const tracewell_step& step) {
    load_address(constant_address(step).value_or(step.value));
    if (step.base < kGenerals)
      as_.add(as_.rax, as_.qword[as_.rdi + at_register(step.base)]);
  }

  /// As add_memory() of the collector, of as many bytes as are known here. Where a load fails, or
  /// is not known to do no harm, the collector does it all again.
  uint32_t add_fill() {
    as_.align(16);
    const auto begin = static_cast<uint32_t>(as_.getSize());
    const size_t first_load = loads_.size();
    Xbyak::Label gives_up;
    if (!loads_as_it_comes()) leave_unless_known(gives_up);
    int at = 0;
    for (const tracewell_step& step : spec_.memory) {
      const auto bytes = static_cast<int>(step.bytes);
      compute_address(step);
      as_.mov(as_.byte[as_.rsi + at], 'M');
      as_.mov(as_.qword[as_.rsi + at + 1], as_.rax);
      as_.mov(as_.word[as_.rsi + at + 9], bytes);
      at += kMemoryHead;
      for (int done = 0; done < bytes;) {
        const int now = std::bit_floor(static_cast<unsigned>(std::min(bytes - done, 8)));
        loads_.push_back({static_cast<uint32_t>(as_.getSize()), 0});
        as_.load_sized(as_.rcx, as_.rax + done, static_cast<size_t>(now));
        as_.mov(sized(as_.rsi + at + done, now), as_.rcx.changeBit(now * 8));
        done += now;
      }
      at += bytes;
    }
    as_.mov(as_.eax, at);
    as_.ret();
    as_.L(gives_up);
    for (size_t i = first_load; i < loads_.size(); ++i)
      loads_[i].resume = static_cast<uint32_t>(as_.getSize());
    as_.xor_(as_.eax, as_.eax);
    as_.ret();
    if (hash_used_) {
      as_.align(8);
      as_.L(hash_);
      as_.dq(TRACEWELL_HINT_FACTOR);
    }
    return begin;
  }

  /// As loadable() of the collector, for all steps at once: goes on where all that they read is in
  /// ranges that the tracer knows, by a table that was the same before and behind the looks at it,
  /// and while there is a tracer.
  void leave_unless_known(Xbyak::Label& gives_up) {
    Xbyak::Label unknown, unknown_deeper, known;
    as_.push(as_.rdx);
    load_address(spec_.addresses.reads);
    as_.cmp(as_.dword[as_.rax], TRACEWELL_READS_KNOWN);
    as_.jne(unknown, Xbyak::CodeGenerator::T_NEAR);
    load_address(spec_.addresses.ranges);
    as_.mov(as_.rdx, as_.rax);
    as_.cmp(as_.dword[as_.rdx + int{offsetof(tracewell_ranges, asks)}], 0);
    as_.jne(unknown, Xbyak::CodeGenerator::T_NEAR);
    as_.mov(as_.rcx, as_.qword[as_.rdx + int{offsetof(tracewell_ranges, sequence)}]);
    as_.test(as_.cl, 1);
    as_.jnz(unknown, Xbyak::CodeGenerator::T_NEAR);
    as_.push(as_.rcx);
    for (const tracewell_step& step : spec_.memory) jump_unless_known(step, unknown_deeper);
    load_address(spec_.addresses.reader);
    as_.pop(as_.rcx);
    as_.cmp(as_.rcx, as_.qword[as_.rdx + int{offsetof(tracewell_ranges, sequence)}]);
    as_.jne(unknown, Xbyak::CodeGenerator::T_NEAR);
    as_.test(as_.dword[as_.rax], TRACEWELL_READER);
    as_.pop(as_.rdx);
    as_.jz(gives_up, Xbyak::CodeGenerator::T_NEAR);
    as_.jmp(known);
    as_.L(unknown_deeper);
    as_.pop(as_.rcx);
    as_.L(unknown);
    as_.pop(as_.rdx);
    as_.jmp(gives_up, Xbyak::CodeGenerator::T_NEAR);
    as_.L(known);
  }

  /// By the hint alone, from the table at rdx. Whatever stands there, it is a range of the table,
  /// or none at all.
  void jump_unless_known(const tracewell_step& step, Xbyak::Label& unknown) {
    constexpr int kHints = offsetof(tracewell_ranges, hints);
    constexpr int kStart = offsetof(tracewell_ranges, ranges);
    constexpr int kEnd = kStart + int{offsetof(tracewell_range, end)};
    compute_address(step);
    if (const auto address = constant_address(step)) {
      const auto hint = static_cast<int>(tracewell_hint_at(*address) * sizeof(uint16_t));
      as_.movzx(as_.ecx, as_.word[as_.rdx + kHints + hint]);
    } else {
      hash_used_ = true;
      as_.mov(as_.rcx, as_.rax);
      as_.shr(as_.rcx, TRACEWELL_HINT_SHIFT);
      as_.imul(as_.rcx, as_.qword[as_.rip + hash_]);
      as_.shr(as_.rcx, TRACEWELL_HINT_FOLD);
      as_.movzx(as_.ecx, as_.word[as_.rdx + as_.rcx * sizeof(uint16_t) + kHints]);
    }
    as_.and_(as_.ecx, TRACEWELL_RANGES_MAX - 1);
    as_.shl(as_.ecx, std::countr_zero(sizeof(tracewell_range)));
    as_.cmp(as_.rax, as_.qword[as_.rdx + as_.rcx + kStart]);
    as_.jb(unknown, Xbyak::CodeGenerator::T_NEAR);
    as_.mov(as_.rcx, as_.qword[as_.rdx + as_.rcx + kEnd]);
    as_.sub(as_.rcx, as_.rax);
    as_.jb(unknown, Xbyak::CodeGenerator::T_NEAR);
    as_.cmp(as_.rcx, static_cast<uint32_t>(step.bytes));
    as_.jb(unknown, Xbyak::CodeGenerator::T_NEAR);
  }

  Xbyak::Address sized(const Xbyak::RegExp& to, int bytes) {
    switch (bytes) {
      case 1: return as_.byte[to];
      case 2: return as_.word[to];
      case 4: return as_.dword[to];
      default: return as_.qword[to];
    }
  }

  const HitSpec& spec_;
  Assembler as_;
  Xbyak::Label holds_, hash_;
  bool hash_used_ = false;
  uint16_t saved_ = 0;
  uint32_t deepest_ = 0;
  std::vector<FaultingLoad> loads_;
  std::vector<uint32_t> collected_;
};

}  // namespace

RegisterPlace place_in_hit(uint32_t number, uint32_t which) {
  TW_CHECK(which <= kEflags);
  const size_t offset = which < kGenerals ? offsetof(tracewell_hit, registers) + which * 8
                        : which == kRip   ? offsetof(tracewell_hit, rip)
                                          : offsetof(tracewell_hit, eflags);
  // Of the flags all but the lowest half is 0.
  return {number, static_cast<int32_t>(offset), uint8_t(which == kEflags ? 4 : 8)};
}

Result<HitBody> make_hit_body(const HitSpec& spec) try {
  size_t bytes = kBodyBytes + 512 + spec.condition.size() * 256;
  for (const tracewell_step& step : spec.memory) bytes += 192 + step.bytes * 16;
  for (const ax::Code code : spec.collected) bytes += 512 + code.size() * 256;
  std::vector<uint8_t> buffer(bytes);
  return BodyEmitter(spec, buffer).emit();
} catch (const Xbyak::Error& error) {
  return Error{Errc::Limit, fmt::format("cannot be compiled: {}", error.what()), {}};
}

std::array<uint8_t, kHitSlotBytes> hit_slot(uint64_t body) {
  std::array<uint8_t, kHitSlotBytes> code = {
      0x48, 0x8d, 0x64, 0x24, 0x80,        // lea -128(%rsp), %rsp
      0xff, 0x15, 0x05, 0x00, 0x00, 0x00,  // call *5(%rip)
      0xeb, 0x0b,                          // jmp over the address
      0xcc, 0xcc, 0xcc,
  };
  store_uint(code.data() + code.size() - sizeof body, body, sizeof body, Endian::Little);
  return code;
}

}  // namespace tracewell::axjit
