#include "formats/jsonl/layout.h"

#include "machine/tdesc.h"
#include "machine/x86.h"
#include "model/problem.h"

namespace tracewell::formats {

RegisterLayout implied_layout(const Catalog& catalog) {
  if (!catalog.target_description.empty()) {
    ProblemLog ignored;  // whoever reads the description itself tells
    return machine::parse_tdesc(catalog.target_description, ignored).registers;
  }
  if (catalog.registers.size_bytes != 0) {
    std::string machine = catalog.machine;
    RegisterLayout layout = machine::default_layout(catalog.registers.size_bytes, machine);
    layout.size_bytes = catalog.registers.size_bytes;
    return machine == catalog.machine ? layout : RegisterLayout();
  }
  if (catalog.machine == "x86-64") return machine::x86_64_layout({});
  if (catalog.machine == "i386") return machine::i386_layout({});
  return {};
}

bool same_layout(const RegisterLayout& a, const RegisterLayout& b) {
  if (a.size_bytes != b.size_bytes || a.registers.size() != b.registers.size()) return false;
  for (size_t i = 0; i < a.registers.size(); ++i) {
    const Register& one = a.registers[i];
    const Register& other = b.registers[i];
    if (one.name != other.name || one.number != other.number || one.offset != other.offset ||
        one.size_bytes != other.size_bytes || one.type != other.type)
      return false;
  }
  return true;
}

std::string_view stop_name(RunStatus::Stop stop) {
  using Stop = RunStatus::Stop;
  switch (stop) {
    case Stop::NotRun:
      return "not-run";
    case Stop::Requested:
      return "requested";
    case Stop::BufferFull:
      return "buffer-full";
    case Stop::Disconnected:
      return "disconnected";
    case Stop::PassCount:
      return "pass-count";
    case Stop::Failed:
      return "failed";
    case Stop::Unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace tracewell::formats
