// Each byte of the code has one of three states: inside an instruction, start of an instruction
// not yet reached, start of one reached with a known stack height. Because the height of an
// instruction must be the same on all ways to it, each is looked at once.
#include "ax/verify.h"

#include "ax/text_out.h"

namespace tracewell::ax {
namespace {

constexpr uint8_t kInside = 0xff;
constexpr uint8_t kUnseen = 0xfe;
static_assert(kStackSlots < kUnseen);

class Verifier {
 public:
  Verifier(Code code, Purpose purpose) : code_(code), purpose_(purpose) {}

  VerifyResult verify() {
    if (code_.size() == 0) {
      result_.fault = Fault::EmptyExpression;
    } else if (code_.size() > kCodeBytesMax) {
      result_.fault = Fault::TooLong;
    } else if (decode_all() && check_branches()) {
      follow_all();
    }
    return result_;
  }

 private:
  bool refuse(Fault fault, size_t offset) {
    result_.fault = fault;
    result_.offset = offset;
    result_.opcode = offset < code_.size() ? code_.data()[offset] : 0;
    return false;
  }

  bool decode_all() {
    Instruction instruction;
    for (size_t at = 0; at < code_.size(); at += instruction.size) {
      const Fault fault = decode(code_, at, instruction);
      if (fault != Fault::None) return refuse(fault, at);
      if (instruction.info->group == Group::Float) return refuse(Fault::UnhandledOpcode, at);
      heights_[at] = kUnseen;
      for (size_t i = 1; i < instruction.size; ++i) heights_[at + i] = kInside;
    }
    return true;
  }

  bool check_branches() {
    Instruction instruction;
    for (size_t at = 0; at < code_.size(); at += instruction.size) {
      decode(code_, at, instruction);
      if (!instruction.is_branch()) continue;
      const uint64_t target = instruction.operand;
      if (target >= code_.size() || heights_[target] == kInside)
        return refuse(Fault::BadBranch, at);
    }
    return true;
  }

  void follow_all() {
    heights_[0] = 0;
    todo_[todo_count_++] = 0;
    while (todo_count_ > 0)
      if (!follow(todo_[--todo_count_])) return;
  }

  /// Control comes to `target` with `height` values on the stack. `fresh` says that nobody was
  /// there before.
  bool arrive(const Instruction& from, size_t target, size_t height, bool& fresh) {
    fresh = heights_[target] == kUnseen;
    if (fresh) heights_[target] = static_cast<uint8_t>(height);
    return heights_[target] == height || refuse(Fault::HeightMismatch, from.offset);
  }

  /// Walks from `at` until the expression ends or comes to a place that was walked before. The
  /// branch of each if_goto is put aside; each is walked once, so todo_ cannot overflow.
  bool follow(size_t at) {
    Instruction instruction;
    for (bool fresh = true; fresh;) {
      decode(code_, at, instruction);
      size_t height = heights_[at];
      if (!check_stack(instruction, height)) return false;
      const Opcode opcode = instruction.opcode();
      if (opcode == Opcode::op_end) return true;
      if (opcode == Opcode::op_if_goto) {
        const size_t target = instruction.operand;
        if (!arrive(instruction, target, height, fresh)) return false;
        if (fresh) todo_[todo_count_++] = static_cast<uint16_t>(target);
      }
      at = opcode == Opcode::op_goto ? instruction.operand : at + instruction.size;
      if (at >= code_.size()) return refuse(Fault::MissingEnd, instruction.offset);
      if (!arrive(instruction, at, height, fresh)) return false;
    }
    return true;
  }

  /// Checks the instruction against the height before it, and turns that into the one after it.
  bool check_stack(const Instruction& instruction, size_t& height) {
    const Opcode opcode = instruction.opcode();
    const size_t at = instruction.offset;
    if (height < instruction.needs())
      return refuse(opcode == Opcode::op_pick ? Fault::BadPick : Fault::StackUnderflow, at);
    if (opcode == Opcode::op_end && height == 0 && purpose_ == Purpose::Condition)
      return refuse(Fault::EmptyStack, at);
    height = height - instruction.pops() + instruction.info->pushes;
    if (height > kStackSlots) return refuse(Fault::StackOverflow, at);
    if (height > result_.stack_max) result_.stack_max = static_cast<uint8_t>(height);
    return true;
  }

  Code code_;
  Purpose purpose_;
  VerifyResult result_;
  size_t todo_count_ = 0;
  uint8_t heights_[kCodeBytesMax];        // filled as far as the code goes, by decode_all()
  uint16_t todo_[kCodeBytesMax / 3 + 1];  // an if_goto has three bytes
};

}  // namespace

VerifyResult verify(Code code, Purpose purpose) {
  return Verifier(code, purpose).verify();
}

size_t describe(const VerifyResult& result, char* buffer, size_t size) {
  TextOut out(buffer, size);
  const OpcodeInfo* info = opcode_info(result.opcode);
  if (result.fault == Fault::UnhandledOpcode && info != nullptr && info->group == Group::Float) {
    out.text("floating point opcode '");
    out.text(info->name);
    out.text("' is not supported");
    return out.length();
  }
  out.text(fault_text(result.fault));
  if (result.fault == Fault::None || result.fault == Fault::EmptyExpression ||
      result.fault == Fault::TooLong)
    return out.length();
  if (result.fault == Fault::UnrecognizedOpcode) {
    out.text(" 0x");
    out.hex_byte(result.opcode);
  } else if (info != nullptr) {
    out.text(" in '");
    out.text(info->name);
    out.text("'");
  }
  out.text(" at byte ");
  out.decimal(result.offset);
  return out.length();
}

}  // namespace tracewell::ax
