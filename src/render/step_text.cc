#include "render/step_text.h"

#include <iterator>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/json/text.h"
#include "trace/register_values.h"

namespace tracewell::render {
bool append_change(std::string& out, const Catalog& catalog, const Step::RegisterChange& change) {
  if (change.index >= catalog.registers.registers.size()) return false;
  const Register& one = catalog.registers.registers[change.index];
  if (!trace::is_shown_unasked(one)) return false;
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

}  // namespace tracewell::render
