// The instructions that RandomSteps makes, decoded by hand: where they lead, and what of what they
// do nobody tells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "base/bytes.h"
#include "model/event.h"

namespace tracewell::timeline::test {

inline bool is_code(Bytes opcode, std::initializer_list<uint8_t> wanted) {
  return opcode.size() >= wanted.size() &&
         std::equal(wanted.begin(), wanted.end(), opcode.begin());
}

inline bool writes_memory(const Step::MemoryAccess& access) {
  return access.kind == Step::MemoryAccess::Kind::Write ||
         access.kind == Step::MemoryAccess::Kind::ReadWrite;
}

/// Of what is larger and has no content, contents of so many bytes are gone; of the rest, nothing
/// is sure.
constexpr uint64_t kLarge = 16384;
inline bool is_large_write(const Step::MemoryAccess& access) {
  return writes_memory(access) && access.size > kLarge && access.old_bytes.empty() &&
         access.new_bytes.empty();
}

/// A system call, a far return, or what may be one.
inline bool is_way_out(Bytes opcode, bool is_64) {
  const bool call = is_code(opcode, {0x0f, 0x05}) || is_code(opcode, {0x0f, 0x34}) ||
                    is_code(opcode, {0xcd, 0x80}) || is_code(opcode, {0xcd, 0x2e});
  const bool far_return = is_code(opcode, {0xcb}) || is_code(opcode, {0xcf});
  return opcode.empty() || call || far_return || (is_64 && is_code(opcode, {0x06}));
}

/// May others have written, or the instruction itself, while a step was done?
inline bool is_open_within(const Step& step, bool is_64) {
  if (is_way_out(step.opcode, is_64) || std::ranges::any_of(step.memory, is_large_write))
    return true;
  if (!step.memory_incomplete || is_code(step.opcode, {0x8b, 0x00})) return false;
  if (!is_code(step.opcode, {0x89, 0x00})) return true;
  return std::ranges::none_of(step.memory, [](const Step::MemoryAccess& one) {
    return writes_memory(one) && one.size >= 4;
  });
}

/// The address that the only thing that a step has read is.
inline std::optional<uint64_t> read_target(const Step& step, bool is_64) {
  std::optional<uint64_t> target;
  for (const Step::MemoryAccess& one : step.memory) {
    if (one.kind != Step::MemoryAccess::Kind::Read) continue;
    if (target || one.size != (is_64 ? 8u : 4u) || one.old_bytes.empty()) return std::nullopt;
    target = load_uint(one.old_bytes.data(), one.size, Endian::Little);
  }
  return step.memory_incomplete ? std::nullopt : target;
}

/// Can nothing else have run between a step and the thread's next one, at `next`?
inline bool leads_to(const Step& step, uint64_t next, bool is_64) {
  const Bytes code = step.opcode;
  const uint64_t behind = step.pc + code.size();
  const auto relative = [&](size_t bytes) {
    const uint64_t value = load_uint(code.data() + code.size() - bytes, bytes, Endian::Little);
    const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
    return behind + ((value ^ sign) - sign);
  };
  if (code.empty() || (is_64 && is_code(code, {0x06}))) return true;
  if (is_code(code, {0xcb}) || is_code(code, {0xcf})) return true;
  if (is_code(code, {0xeb})) return next == relative(1);
  if (is_code(code, {0x75})) return next == relative(1) || next == behind;
  if (is_code(code, {0xe9}) || is_code(code, {0xe8})) return next == relative(4);
  if (is_code(code, {0xf3, 0xaa}) && next == step.pc) return true;
  if (!is_code(code, {0xc3}) && !is_code(code, {0xff})) return next == behind;
  if (const auto target = read_target(step, is_64)) return next == *target;
  return next != behind || !is_code(code, {0xff, 0xd0});
}

}  // namespace tracewell::timeline::test
