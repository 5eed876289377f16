#include "ax/opcodes.h"

namespace tracewell::ax {
namespace {

constexpr OpcodeInfo kOpcodes[] = {
#define OPCODE(name, code, operand_bytes, pops, pushes, group, ...) \
  {#name, Opcode::op_##name, operand_bytes, pops, pushes, Group::group},
#include "ax/opcodes.def"
};
constexpr size_t kOpcodeCount = sizeof kOpcodes / sizeof kOpcodes[0];
constexpr size_t kCodes = 0x40;
constexpr uint8_t kNone = 0xff;

struct CodeIndex {
  uint8_t at[kCodes];
};

constexpr CodeIndex make_index() {
  CodeIndex index{};
  for (uint8_t& slot : index.at) slot = kNone;
  for (size_t i = 0; i < kOpcodeCount; ++i)
    index.at[static_cast<uint8_t>(kOpcodes[i].opcode)] = static_cast<uint8_t>(i);
  return index;
}
constexpr CodeIndex kIndex = make_index();

constexpr bool same_name(const char* a, const char* b) {
  for (; *a == *b; ++a, ++b)
    if (*a == 0) return true;
  return false;
}

}  // namespace

const OpcodeInfo* opcode_info(uint8_t code) {
  if (code >= kCodes || kIndex.at[code] == kNone) return nullptr;
  return &kOpcodes[kIndex.at[code]];
}

const OpcodeInfo* find_opcode(const char* name) {
  for (const OpcodeInfo& info : kOpcodes)
    if (same_name(info.name, name)) return &info;
  return nullptr;
}

const OpcodeInfo* opcodes_begin() {
  return kOpcodes;
}
const OpcodeInfo* opcodes_end() {
  return kOpcodes + kOpcodeCount;
}

}  // namespace tracewell::ax
