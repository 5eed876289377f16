// Random programs, run by the real interpreter and by the model; accepted or not by both verifiers.
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ax/disassemble.h"
#include "model.h"
#include "model_verifier.h"

namespace tracewell::ax {
namespace {

using Random = std::mt19937_64;
constexpr size_t kTestBudget = 2000;

RecordingHost some_host(Random& random) {
  RecordingHost host;
  host.order = random() % 2 == 0 ? Endian::Little : Endian::Big;
  for (uint64_t address = 0; address < 64; ++address) host.memory[address] = random() % 256;
  for (unsigned number = 0; number < 4; ++number) host.registers[number] = random();
  for (unsigned number = 0; number < 4; ++number) host.variables[number] = random() % 100;
  return host;
}

void put(std::vector<uint8_t>& code, uint64_t value, size_t size) {
  while (size > 0) code.push_back(static_cast<uint8_t>(value >> (8 * --size)));
}

/// An operand that is likely to mean something.
uint64_t some_operand(Random& random, Opcode opcode, size_t size) {
  constexpr uint64_t kEdges[] = {0, 1, ~uint64_t{0}, uint64_t{1} << 63, 63, 64, 65, 255, 0x8000};
  switch (opcode) {
    case Opcode::op_ext:
    case Opcode::op_zero_ext:
      return random() % 70;
    case Opcode::op_goto:
    case Opcode::op_if_goto:
      return random() % 40;
    case Opcode::op_reg:
      return random() % 5 == 0 ? 7 : random() % 4;
    case Opcode::op_const8:
      return random() % 70;
    case Opcode::op_pick:
      return random() % 4;
    default:
      break;
  }
  if (size == 2) return random() % 5;
  return random() % 2 == 0 ? kEdges[random() % std::size(kEdges)] : random();
}

void put_instruction(std::vector<uint8_t>& code, Random& random, const OpcodeInfo& info) {
  code.push_back(static_cast<uint8_t>(info.opcode));
  if (info.opcode == Opcode::op_printf) {
    put(code, random() % 3, 1);
    put(code, 3, 2);
    put(code, 0x257800, 3);
    return;
  }
  put(code, some_operand(random, info.opcode, info.operand_bytes), info.operand_bytes);
}

/// Instructions in any order, some of it cut off or overwritten: mostly refused.
std::vector<uint8_t> any_program(Random& random) {
  std::vector<uint8_t> code;
  for (size_t count = random() % 20; count > 0; --count)
    put_instruction(code, random, opcodes_begin()[random() % (opcodes_end() - opcodes_begin())]);
  if (random() % 4 != 0) code.push_back(0x27);
  if (!code.empty() && random() % 4 == 0) code[random() % code.size()] = random() % 256;
  return code;
}

/// Straight code that keeps an eye on the height, with if-else pieces and loops in between.
class Writer {
 public:
  explicit Writer(Random& random) : random_(random) {}

  std::vector<uint8_t> program() {
    piece(3);
    if (height_ == 0) constant();
    code_.push_back(0x27);
    return code_;
  }

 private:
  void constant() {
    put_instruction(code_, random_, *opcode_info(random_() % 2 == 0 ? 0x22 : 0x25));
    ++height_;
  }
  void straight() {
    for (size_t left = random_() % 8; left > 0; --left) {
      const OpcodeInfo& info = opcodes_begin()[random_() % (opcodes_end() - opcodes_begin())];
      const Group group = info.group;
      if (group == Group::Float || group == Group::Flow || group == Group::Print) continue;
      if (info.opcode == Opcode::op_pick) continue;
      while (height_ < info.pops) constant();
      put_instruction(code_, random_, info);
      height_ = height_ - info.pops + info.pushes;
    }
  }
  /// Brings the height to `height`, so that both ways through a piece agree.
  void level(size_t height) {
    while (height_ < height) constant();
    for (; height_ > height; --height_) code_.push_back(0x29);
  }
  size_t open_branch(uint8_t opcode) {
    code_.insert(code_.end(), {opcode, 0, 0});
    return code_.size() - 2;
  }
  void close_branch(size_t hole, size_t target) {
    code_[hole] = static_cast<uint8_t>(target >> 8);
    code_[hole + 1] = static_cast<uint8_t>(target);
  }
  void if_else(int depth) {
    if (height_ == 0) constant();
    const size_t otherwise = open_branch(0x20);
    const size_t before = --height_;
    piece(depth);
    const size_t after = height_;
    const size_t end = open_branch(0x21);
    close_branch(otherwise, code_.size());
    height_ = before;
    piece(depth);
    level(after);
    close_branch(end, code_.size());
  }
  void loop(int depth) {
    const size_t head = code_.size();
    const size_t before = height_;
    piece(depth);
    level(before + 1);
    close_branch(open_branch(0x20), head);
    height_ = before;
  }
  void piece(int depth) {
    straight();
    if (depth == 0) return;
    if (random_() % 2 == 0) if_else(depth - 1);
    if (random_() % 4 == 0) loop(depth - 1);
    straight();
  }

  Random& random_;
  std::vector<uint8_t> code_;
  size_t height_ = 0;
};

std::string placed_listing(Code code) {
  std::string all;
  Instruction instruction;
  for (size_t at = 0; decode(code, at, instruction) == Fault::None; at += instruction.size) {
    char line[64];
    disassemble(instruction, line, sizeof line);
    all += fmt::format("{} {}\n", at, line);
  }
  return all;
}

/// What verified code may still end with.
bool allowed_after_verify(Fault fault) {
  return fault == Fault::None || fault == Fault::DivideByZero || fault == Fault::MemoryAccess ||
         fault == Fault::RegisterAccess || fault == Fault::BudgetExceeded ||
         fault == Fault::NotRecorded || fault == Fault::PrintFailed;
}

/// Returns whether the program was accepted.
bool compare(const std::vector<uint8_t>& code, Random& random) {
  SCOPED_TRACE(placed_listing(code));
  const Purpose purpose = random() % 2 == 0 ? Purpose::Condition : Purpose::Action;
  const bool accepted = verify(code, purpose).ok();
  EXPECT_EQ(accepted, model::accepts(code, purpose));

  RecordingHost host = some_host(random);
  RecordingHost model_host = host;
  const Outcome outcome = run(code, host, kTestBudget);
  const Outcome expected = model::Evaluator(code, model_host).run(kTestBudget);
  EXPECT_STREQ(fault_text(outcome.fault), fault_text(expected.fault));
  EXPECT_EQ(outcome.offset, expected.offset);
  EXPECT_EQ(outcome.has_value, expected.has_value);
  EXPECT_EQ(outcome.value, expected.value);
  EXPECT_EQ(host.log, model_host.log);
  EXPECT_EQ(host.variables, model_host.variables);
  if (accepted) {
    EXPECT_TRUE(allowed_after_verify(outcome.fault)) << fault_text(outcome.fault);
  }
  if (accepted && purpose == Purpose::Condition && outcome.ok()) {
    EXPECT_TRUE(outcome.has_value);
  }
  return accepted;
}

TEST(AxModel, AnyProgram) {
  Random random(20240229);
  size_t accepted = 0;
  for (int i = 0; i < 20000 && !testing::Test::HasFailure(); ++i)
    accepted += compare(any_program(random), random);
  EXPECT_GT(accepted, 100u);
}

TEST(AxModel, WellFormedProgram) {
  Random random(7);
  size_t accepted = 0;
  for (int i = 0; i < 4000 && !testing::Test::HasFailure(); ++i)
    accepted += compare(Writer(random).program(), random);
  EXPECT_GT(accepted, 3900u);
}

}  // namespace
}  // namespace tracewell::ax
