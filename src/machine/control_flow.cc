#include "machine/control_flow.h"

#include <Zydis/Zydis.h>

#include "base/check.h"
#include "machine/own_code.h"

namespace tracewell::machine {
namespace {

constexpr size_t kTextMax = 256;

Flow flow_of(ZydisInstructionCategory category) {
  switch (category) {
    case ZYDIS_CATEGORY_CALL:
      return Flow::Call;
    case ZYDIS_CATEGORY_RET:
      return Flow::Return;
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
      return Flow::Jump;
    default:
      return Flow::Onward;
  }
}

bool leaves_program(const ZydisDecodedInstruction& instruction) {
  // The decoder does not call iret a far branch, which it is.
  const bool comes_back = instruction.mnemonic == ZYDIS_MNEMONIC_IRET ||
                          instruction.mnemonic == ZYDIS_MNEMONIC_IRETD ||
                          instruction.mnemonic == ZYDIS_MNEMONIC_IRETQ;
  return instruction.meta.category == ZYDIS_CATEGORY_SYSCALL ||
         instruction.meta.category == ZYDIS_CATEGORY_INTERRUPT || comes_back ||
         instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
}

/// Nothing where an operand-size prefix cuts the target: processors differ in 64-bit code.
std::optional<int32_t> distance_of(const ZydisDecodedInstruction& instruction) {
  const auto& immediate = instruction.raw.imm[0];
  const bool cut = (instruction.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) != 0;
  if (!immediate.is_relative || cut) return std::nullopt;
  return static_cast<int32_t>(immediate.value.s);
}

FlowInstruction flow_instruction(const ZydisDecodedInstruction& instruction) {
  FlowInstruction out;
  out.length = instruction.length;
  out.flow = flow_of(instruction.meta.category);
  out.leaves = leaves_program(instruction);
  out.repeats = (instruction.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
                                           ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  out.conditional = instruction.meta.category == ZYDIS_CATEGORY_COND_BR;
  out.distance = distance_of(instruction);
  return out;
}

}  // namespace

struct FlowDecoder::Zydis {
  ZydisDecoder decoder;
  ZydisFormatter formatter;
};

FlowDecoder::FlowDecoder(std::string_view machine) {
  const bool wide = machine == "x86-64";
  if (!wide && machine != "i386") return;
  zydis_ = std::make_unique<Zydis>();
  address_bytes_ = wide ? 8 : 4;
  TW_CHECK(ZYAN_SUCCESS(ZydisDecoderInit(
      &zydis_->decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
      wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)));
  TW_CHECK(ZYAN_SUCCESS(ZydisFormatterInit(&zydis_->formatter, ZYDIS_FORMATTER_STYLE_INTEL)));
  const auto set = [this](ZydisFormatterProperty property, ZyanUPointer value) {
    TW_CHECK(ZYAN_SUCCESS(ZydisFormatterSetProperty(&zydis_->formatter, property, value)));
  };
  // Without this, `inc [rax]` does not say how much it changes.
  set(ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
  // Addresses are spelled as everywhere else.
  set(ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
  set(ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
}

FlowDecoder::~FlowDecoder() = default;

FlowInstruction FlowDecoder::decode(Bytes code) const {
  ZydisDecodedInstruction instruction;
  ZydisDecoderContext context;
  const OwnCode own(code);
  if (!zydis_ || ZYAN_FAILED(ZydisDecoderDecodeInstruction(&zydis_->decoder, &context, own.data(),
                                                           own.size(), &instruction)))
    return {};
  return flow_instruction(instruction);
}

std::string_view FlowDecoder::mnemonic(Bytes code) const {
  ZydisDecodedInstruction instruction;
  ZydisDecoderContext context;
  const OwnCode own(code);
  if (!zydis_ || ZYAN_FAILED(ZydisDecoderDecodeInstruction(&zydis_->decoder, &context, own.data(),
                                                           own.size(), &instruction)))
    return {};
  return ZydisMnemonicGetString(instruction.mnemonic);
}

bool FlowDecoder::is_relative(Bytes code) const {
  ZydisDecodedInstruction instruction;
  ZydisDecoderContext context;
  return zydis_ &&
         ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&zydis_->decoder, &context, code.data(),
                                                    code.size(), &instruction)) &&
         (instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0;
}

std::string FlowDecoder::text(Bytes code, uint64_t pc) const {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  const OwnCode own(code);
  if (!zydis_ || ZYAN_FAILED(ZydisDecoderDecodeFull(&zydis_->decoder, own.data(), own.size(),
                                                    &instruction, operands)))
    return {};
  char text[kTextMax];
  if (ZYAN_FAILED(ZydisFormatterFormatInstruction(&zydis_->formatter, &instruction, operands,
                                                  instruction.operand_count_visible, text,
                                                  sizeof text, pc, ZYAN_NULL)))
    return {};
  return text;
}

}  // namespace tracewell::machine
