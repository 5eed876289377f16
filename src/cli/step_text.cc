#include "cli/step_text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/hex.h"
#include "base/text.h"
#include "formats/jsonl.h"

namespace tracewell::cli {
namespace {

constexpr size_t kShownBytesMax = 64;  // of a register; what is larger is for programs

/// What hardly anybody asks for, and what stands in the way of everything else.
constexpr std::array<std::string_view, 10> kHidden = {
    "cs", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base", "cr0_npx", "x64dbg_rest"};

}  // namespace

bool is_shown(const Register& one) {
  return one.size_bytes <= kShownBytesMax && std::ranges::find(kHidden, one.name) == kHidden.end();
}

bool append_change(std::string& out, const Catalog& catalog, const Step::RegisterChange& change) {
  if (change.index >= catalog.registers.registers.size()) return false;
  const Register& one = catalog.registers.registers[change.index];
  if (!is_shown(one)) return false;
  fmt::format_to(
      std::back_inserter(out), "{}={}", printable(one.name),
      change.value.empty() ? "?" : formats::register_value_hex(change.value, catalog.endian));
  return true;
}

bool append_access(std::string& out, const Step::MemoryAccess& access) {
  using Access = Step::MemoryAccess::Kind;
  if (access.kind == Access::Nearby) return false;
  auto bytes = [&](Bytes known) {
    return known.empty() ? fmt::format("?({})", access.size) : to_hex(known);
  };
  fmt::format_to(std::back_inserter(out), "[{:#x}]", access.address);
  if (access.kind != Access::Write)
    fmt::format_to(std::back_inserter(out), "={}", bytes(access.old_bytes));
  if (access.kind != Access::Read)
    fmt::format_to(std::back_inserter(out), "<-{}", bytes(access.new_bytes));
  return true;
}

}  // namespace tracewell::cli
