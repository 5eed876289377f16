#include "machine/code_instruction.h"

#include <Zydis/Zydis.h>

#include "base/check.h"
#include "machine/own_code.h"

namespace tracewell::machine {
namespace {

using CodeFlow = CodeInstruction::Flow;
using Through = CodeInstruction::Through;

const ZydisDecoder& decoder() {
  static const ZydisDecoder made = [] {
    ZydisDecoder decoder;
    TW_CHECK(ZYAN_SUCCESS(
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
    return decoder;
  }();
  return made;
}

bool is_system(const ZydisDecodedInstruction& zydis) {
  switch (zydis.mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
      return true;
    case ZYDIS_MNEMONIC_INT:
      return zydis.raw.imm[0].value.u == 0x80;
    default:
      return false;
  }
}

bool stops(const ZydisDecodedInstruction& zydis) {
  switch (zydis.mnemonic) {
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
      return true;
    default:
      return false;
  }
}

/// By category, except that Zydis counts the ends of transactions among the branches.
CodeFlow flow_of(const ZydisDecodedInstruction& zydis) {
  if (is_system(zydis)) return CodeFlow::System;
  if (stops(zydis)) return CodeFlow::Stop;
  switch (zydis.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return CodeFlow::Call;
    case ZYDIS_CATEGORY_RET:
      return CodeFlow::Return;
    case ZYDIS_CATEGORY_COND_BR:
      return zydis.raw.imm[0].is_relative ? CodeFlow::Conditional : CodeFlow::Onward;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return zydis.mnemonic == ZYDIS_MNEMONIC_JMP ? CodeFlow::Jump : CodeFlow::Onward;
    default:
      return CodeFlow::Onward;
  }
}

bool has_memory(const ZydisDecodedInstruction& zydis) {
  return (zydis.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && zydis.raw.modrm.mod != 3;
}

bool is_rip_relative(const ZydisDecodedInstruction& zydis) {
  return has_memory(zydis) && zydis.raw.modrm.mod == 0 && zydis.raw.modrm.rm == 5;
}

bool is_indexed(const ZydisDecodedInstruction& zydis, int log2_scale) {
  return has_memory(zydis) && zydis.raw.modrm.rm == 4 && zydis.raw.sib.scale == log2_scale;
}

void find_target(const ZydisDecodedInstruction& zydis, uint64_t next, CodeInstruction& out) {
  if (zydis.raw.imm[0].is_relative) {
    out.target = next + static_cast<uint64_t>(zydis.raw.imm[0].value.s);
    return;
  }
  if (out.flow != CodeFlow::Jump && out.flow != CodeFlow::Call) return;
  if (!has_memory(zydis)) {
    out.through = Through::Register;
  } else if (is_rip_relative(zydis)) {
    out.through = Through::Pointer;
  } else if (is_indexed(zydis, 3) && zydis.raw.modrm.mod == 0 && zydis.raw.sib.base == 5) {
    out.through = Through::Table;
    out.table = static_cast<uint64_t>(zydis.raw.disp.value);
  } else {
    out.through = Through::Memory;
  }
}

}  // namespace

CodeInstruction decode_code(Bytes code, uint64_t pc) {
  CodeInstruction out;
  ZydisDecodedInstruction zydis;
  ZydisDecoderContext context;
  const OwnCode own(code);
  if (ZYAN_FAILED(
          ZydisDecoderDecodeInstruction(&decoder(), &context, own.data(), own.size(), &zydis)))
    return out;
  out.length = zydis.length;
  out.flow = flow_of(zydis);
  out.nop = zydis.mnemonic == ZYDIS_MNEMONIC_NOP;
  out.int3 = zydis.mnemonic == ZYDIS_MNEMONIC_INT3;
  out.endbr = zydis.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
  out.address_of = zydis.mnemonic == ZYDIS_MNEMONIC_LEA;
  out.table_load = zydis.mnemonic == ZYDIS_MNEMONIC_MOVSXD && is_indexed(zydis, 2);
  find_target(zydis, pc + zydis.length, out);
  if (is_rip_relative(zydis) && !out.nop)
    out.named = pc + zydis.length + static_cast<uint64_t>(zydis.raw.disp.value);
  return out;
}

}  // namespace tracewell::machine
