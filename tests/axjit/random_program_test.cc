#include "random_program.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "ax/opcodes.h"
#include "ax/verify.h"

namespace tracewell::axjit {
namespace {

using ax::Group;
using ax::Opcode;
using ax::OpcodeInfo;

class Writer {
 public:
  Writer(Random& random, std::span<const uint64_t> addresses)
      : random_(random), addresses_(addresses) {}

  std::vector<uint8_t> program() {
    if (random_.one_in(20)) pile();
    constexpr int kDepths[] = {0, 0, 1, 1, 1, 2, 2, 3};
    piece(kDepths[random_.below(std::size(kDepths))]);
    if (!ends_.empty())
      level(1);
    else if (height_ == 0 && !random_.one_in(10))
      push();
    one(Opcode::op_end);
    for (const size_t hole : ends_) set_target(hole, code_.size() - 1);
    return std::move(code_);
  }

 private:
  void put(uint64_t value, size_t size) {
    while (size > 0) code_.push_back(static_cast<uint8_t>(value >> (8 * --size)));
  }
  void one(Opcode opcode, uint64_t operand = 0) {
    const OpcodeInfo& info = *ax::opcode_info(static_cast<uint8_t>(opcode));
    code_.push_back(static_cast<uint8_t>(opcode));
    put(operand, info.operand_bytes);
    height_ += info.pushes;
    height_ -= info.pops;
  }
  void make_room() {
    while (height_ + 4 > ax::kStackSlots) one(Opcode::op_pop);
  }

  uint64_t number() {
    constexpr uint64_t kEdges[] = {0,    1,          2,          7,       8,      31,
                                   32,   33,         62,         63,      64,     65,
                                   127,  128,        255,        256,     0x7fff, 0x8000,
                                   4095, 0x7fffffff, 0x80000000, 1 << 20, ~0ull,  ~1ull,
                                   1ull << 63, (1ull << 63) - 1, 0xffffffff, 0xffffffff80000000};
    if (random_.one_in(4)) return random_() >> random_.below(64);
    return kEdges[random_.below(std::size(kEdges))];
  }
  uint64_t address() {
    return addresses_[random_.below(addresses_.size())] + random_.below(16) - 8;
  }
  uint64_t register_number() { return random_.one_in(60) ? 300 : random_.below(9); }
  uint64_t variable_number() { return random_.one_in(60) ? 77 : 1 + random_.below(6); }
  uint64_t bits() { return random_.one_in(20) ? random_.below(256) : random_.below(66); }

  void push() {
    make_room();
    push_value();
  }
  /// A value of some kind. Makes no room: who wants a certain height gets it.
  void push_value() {
    switch (random_.below(8)) {
      case 0: return one(Opcode::op_const8, random_.below(70));
      case 1: return one(Opcode::op_const16, number() & 0xffff);
      case 2: return one(Opcode::op_const32, number() & 0xffffffff);
      case 3: return one(Opcode::op_const64, address());
      case 4: return one(Opcode::op_const64, number());
      case 5: return one(Opcode::op_getv, variable_number());
      default: return one(Opcode::op_reg, register_number());
    }
  }
  void need(size_t count) {
    while (height_ < count) push();
  }
  /// More than registers can hold.
  void pile() {
    for (size_t left = random_.below(100); left > 0 && height_ + 8 < ax::kStackSlots; --left)
      push();
  }

  void printf() {
    const uint64_t count = random_.below(height_ > 5 ? 5 : 3);
    need(count + 2);
    code_.push_back(static_cast<uint8_t>(Opcode::op_printf));
    put(count, 1);
    const char text[] = {'%', 'x', static_cast<char>('a' + random_.below(3)), 0};
    put(sizeof text, 2);
    code_.insert(code_.end(), std::begin(text), std::end(text));
    height_ -= count + 2;
  }
  void any() {
    const auto count = static_cast<uint64_t>(ax::opcodes_end() - ax::opcodes_begin());
    const OpcodeInfo& info = ax::opcodes_begin()[random_.below(count)];
    const Opcode opcode = info.opcode;
    if (info.group == Group::Float || info.group == Group::Flow) return;
    if (info.group == Group::Trace && !random_.one_in(3)) return;
    // At any address at all, most would end the expression.
    const bool reads = opcode >= Opcode::op_ref8 && opcode <= Opcode::op_ref64;
    if (reads && !random_.one_in(8)) return;
    make_room();
    if (opcode == Opcode::op_printf) return printf();
    need(info.pops);
    uint64_t operand = 0;
    if (opcode == Opcode::op_ext || opcode == Opcode::op_zero_ext) operand = bits();
    if (opcode == Opcode::op_reg) operand = register_number();
    if (opcode == Opcode::op_getv || opcode == Opcode::op_setv || opcode == Opcode::op_tracev)
      operand = variable_number();
    if (info.group == Group::Stack) operand = number();
    if (opcode == Opcode::op_trace_quick || opcode == Opcode::op_trace16)
      operand = random_.below(70);
    if (opcode == Opcode::op_pick) {
      need(1);
      operand = random_.one_in(4) ? height_ - 1 : random_.below(height_);
    }
    one(opcode, operand);
  }

  /// What a debugger makes of `pointer->member`, of sizes and conversions.
  void dereference() {
    make_room();
    if (random_.one_in(2)) {
      one(Opcode::op_reg, random_.below(4));  // these hold addresses
    } else {
      one(Opcode::op_const64, address());
    }
    if (random_.one_in(3)) one(Opcode::op_zero_ext, 64);
    if (random_.one_in(2)) {
      one(Opcode::op_const8, random_.below(64));
      one(random_.one_in(4) ? Opcode::op_sub : Opcode::op_add);
    }
    constexpr Opcode kRefs[] = {Opcode::op_ref8, Opcode::op_ref16, Opcode::op_ref32,
                                Opcode::op_ref64};
    const uint64_t width = random_.below(4);
    one(kRefs[width]);
    if (random_.one_in(2))
      one(random_.one_in(2) ? Opcode::op_ext : Opcode::op_zero_ext, 8 << width);
  }
  /// `$v = f($v)`
  void update() {
    make_room();
    const uint64_t variable = variable_number();
    one(Opcode::op_getv, variable);
    const size_t floor = height_;
    for (size_t left = random_.below(3); left > 0; --left) {
      if (random_.one_in(2)) {
        one(Opcode::op_const8, random_.below(5));
      } else {
        dereference();
      }
      constexpr Opcode kJoins[] = {Opcode::op_add, Opcode::op_sub, Opcode::op_mul,
                                   Opcode::op_bit_xor, Opcode::op_div_signed, Opcode::op_swap};
      one(kJoins[random_.below(std::size(kJoins))]);
    }
    while (height_ > floor) one(Opcode::op_add);
    if (random_.one_in(2)) one(Opcode::op_ext, 64);
    one(Opcode::op_setv, variable);
    if (random_.one_in(2)) one(Opcode::op_pop);
  }
  void compare() {
    need(2);
    if (random_.one_in(3)) one(Opcode::op_swap);
    constexpr Opcode kKinds[] = {Opcode::op_equal, Opcode::op_less_signed,
                                 Opcode::op_less_unsigned};
    one(kKinds[random_.below(3)]);
    if (random_.one_in(3)) one(Opcode::op_log_not);
    if (random_.one_in(6)) one(Opcode::op_ext, 32);
  }
  void straight() {
    for (size_t left = random_.below(6); left > 0; --left) {
      const uint64_t kind = random_.below(10);
      if (kind == 0) dereference();
      if (kind == 1) update();
      if (kind == 2) compare();
      if (kind > 2) any();
    }
  }

  /// Brings the height to `height`, so that all ways through a piece agree.
  void level(size_t height) {
    while (height_ < height) push_value();
    while (height_ > height) one(Opcode::op_pop);
  }
  size_t branch(Opcode opcode) {
    one(opcode);
    return code_.size() - 2;
  }
  void set_target(size_t hole, size_t target) {
    code_[hole] = static_cast<uint8_t>(target >> 8);
    code_[hole + 1] = static_cast<uint8_t>(target);
  }
  void condition() {
    if (random_.one_in(2)) compare();
    need(1);
  }
  void if_else(int depth) {
    condition();
    // Either as it comes, or the way debuggers do it: a branch over a goto.
    size_t otherwise = branch(Opcode::op_if_goto);
    if (random_.one_in(2)) {
      set_target(otherwise, code_.size() + 3);
      otherwise = branch(Opcode::op_goto);
    }
    const size_t before = height_;
    piece(depth);
    const size_t after = height_;
    const size_t end = branch(Opcode::op_goto);
    set_target(otherwise, code_.size());
    height_ = before;
    piece(depth);
    level(after);
    set_target(end, code_.size());
  }
  void loop(int depth) {
    const size_t head = code_.size();
    const size_t before = height_;
    piece(depth);
    if (random_.one_in(2)) condition();
    level(before + 1);
    set_target(branch(Opcode::op_if_goto), head);
    height_ = before;
  }
  /// Leaves the expression on one of two ways.
  void early_end() {
    condition();
    const size_t over = branch(Opcode::op_if_goto);
    if (height_ == 0 || random_.one_in(2)) {
      one(Opcode::op_end);
    } else {
      const size_t before = height_;
      level(0);
      push();
      ends_.push_back(branch(Opcode::op_goto));
      height_ = before;
    }
    set_target(over, code_.size());
  }
  void piece(int depth) {
    straight();
    if (depth == 0) return;
    if (random_.one_in(2)) if_else(depth - 1);
    if (random_.one_in(6)) loop(depth - 1);
    if (random_.one_in(12)) early_end();
    straight();
  }

  Random& random_;
  std::span<const uint64_t> addresses_;
  std::vector<uint8_t> code_;
  std::vector<size_t> ends_;  // branches to the `end`; each comes with one value
  size_t height_ = 0;
};

}  // namespace

std::vector<uint8_t> random_program(Random& random, std::span<const uint64_t> addresses) {
  return Writer(random, addresses).program();
}

TEST(RandomProgram, VerifiesAndHasEveryOpcode) {
  const uint64_t addresses[] = {0x1000, 0x2000};
  std::set<Opcode> seen;
  size_t backwards = 0, deepest = 0;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    const std::vector<uint8_t> code = random_program(random, addresses);
    const ax::VerifyResult verdict = ax::verify(code, ax::Purpose::Action);
    ASSERT_EQ(ax::fault_text(verdict.fault), std::string("no error")) << "seed " << seed;
    deepest = std::max<size_t>(deepest, verdict.stack_max);
    ax::Instruction at;
    for (size_t i = 0; ax::decode(code, i, at) == ax::Fault::None; i += at.size) {
      seen.insert(at.opcode());
      backwards += at.is_branch() && at.operand <= at.offset;
    }
  }
  EXPECT_GT(backwards, 300u);
  EXPECT_GT(deepest, 90u);
  for (const OpcodeInfo* info = ax::opcodes_begin(); info != ax::opcodes_end(); ++info) {
    if (info->group != Group::Float) {
      EXPECT_TRUE(seen.contains(info->opcode)) << info->name;
    }
  }
}

}  // namespace tracewell::axjit
