#include "machine/flow.h"

#include <Zydis/Zydis.h>

namespace tracewell::machine {

Flow flow_of(Bytes opcode, uint32_t address_bytes) {
  ZydisDecoder decoder;
  const bool is_64 = address_bytes == 8;
  if (ZYAN_FAILED(ZydisDecoderInit(
          &decoder, is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
          is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)))
    return {};
  ZydisDecodedInstruction instruction;
  ZydisDecoderContext context;
  if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, &context, opcode.data(), opcode.size(),
                                                &instruction)))
    return {};
  Flow flow;
  flow.length = instruction.length;
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL: flow.kind = Flow::Kind::Call; break;
    case ZYDIS_CATEGORY_RET: flow.kind = Flow::Kind::Return; break;
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR: flow.kind = Flow::Kind::Jump; break;
    default: break;
  }
  return flow;
}

}  // namespace tracewell::machine
