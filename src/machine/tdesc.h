// Target descriptions: GDB's XML (manual, appendix "Target Descriptions") to a register layout, and
// back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/endian.h"
#include "model/problem.h"
#include "model/registers.h"

namespace tracewell::machine {

/// Of the register block of a file that is read: bytes at most. No machine has as many (an AArch64
/// with the widest vectors and matrices has 75 KB), and readers keep a block for each thread.
inline constexpr uint32_t kRegisterBlockBytesMax = 128 << 10;

struct TargetDescription {
  std::string architecture;  // as the XML spells it; empty = not given
  std::string osabi;
  std::string machine = "unknown";
  uint32_t address_bytes = 8;
  Endian endian = Endian::Little;
  bool either_endian = false;  // the architecture has both and the XML cannot tell
  RegisterLayout registers;
  /// Of a block as described: more than registers.size_bytes where registers were left out because
  /// there is no room for them.
  uint32_t described_bytes = 0;
};

/// Reads a whole target.xml. Bad parts are left out and told to `problems`; an unusable text gives
/// an empty layout and machine "unknown". Includes are never followed. Of registers that a block of
/// kRegisterBlockBytesMax has no room for, the first and all behind it are left out, which is told
/// once. `offset`: where in the input the description begins; it is that of the problems, since the
/// text may have come in pieces.
TargetDescription parse_tdesc(std::string_view xml, ProblemLog& problems,
                              std::optional<uint64_t> offset = std::nullopt);

/// A description that makes GDB use exactly this layout: one feature that holds all registers, for
/// layouts that came from elsewhere than a description. `machine` is Catalog::machine. Empty when
/// GDB has no architecture of that name.
std::string render_tdesc(const RegisterLayout& layout, std::string_view machine);

/// Finds the program counter and stack pointer by name, for a layout that was put together from
/// parts. Needs `machine` because some call their stack pointer r1.
void mark_special_registers(RegisterLayout& layout, std::string_view machine);

/// The layout that GDB assumes for a register block of this size when nobody described it
/// ("x86-64" and "i386" only). `machine` "unknown" tries both. Empty when nothing fits; then
/// `machine` is left alone, otherwise it is set to the machine found.
RegisterLayout default_layout(uint32_t block_bytes, std::string& machine);

}  // namespace tracewell::machine
