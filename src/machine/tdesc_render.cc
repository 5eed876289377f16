// Writing target.xml for a layout that no description came with. GDB accepts registers only under
// the feature names that it knows for the architecture, and is content with one feature holding
// more than it asks for only when the names it asks for are there; so x86 layouts, which have a
// table of their own, are written from that.
#include <fmt/format.h>

#include "base/text/xml.h"
#include "machine/architecture.h"
#include "machine/tdesc.h"
#include "machine/x86.h"

namespace tracewell::machine {
namespace {

struct CoreFeature {
  std::string_view machine_prefix;
  std::string_view architecture;
  std::string_view feature;
};
constexpr CoreFeature kCoreFeatures[] = {
    {"x86-64", "i386:x86-64", "org.gnu.gdb.i386.core"},
    {"x32", "i386:x64-32", "org.gnu.gdb.i386.core"},
    {"i386", "i386", "org.gnu.gdb.i386.core"},
    {"aarch64", "aarch64", "org.gnu.gdb.aarch64.core"},
    {"arm", "arm", "org.gnu.gdb.arm.core"},
    {"powerpc64", "powerpc:common64", "org.gnu.gdb.power.core"},
    {"powerpc", "powerpc:common", "org.gnu.gdb.power.core"},
    {"rs6000", "rs6000:6000", "org.gnu.gdb.power.core"},
    {"mips64", "mips:isa64", "org.gnu.gdb.mips.cpu"},
    {"mips", "mips", "org.gnu.gdb.mips.cpu"},
    {"s390x", "s390:64-bit", "org.gnu.gdb.s390.core"},
    {"s390", "s390:31-bit", "org.gnu.gdb.s390.core"},
    {"riscv64", "riscv:rv64", "org.gnu.gdb.riscv.cpu"},
    {"riscv32", "riscv:rv32", "org.gnu.gdb.riscv.cpu"},
    {"sparc64", "sparc:v9", "org.gnu.gdb.sparc.cpu"},
    {"sparc", "sparc", "org.gnu.gdb.sparc.cpu"},
    {"m68k", "m68k", "org.gnu.gdb.m68k.core"},
};

const CoreFeature* find_core(std::string_view machine) {
  for (const CoreFeature& one : kCoreFeatures)
    if (machine == one.machine_prefix) return &one;
  return nullptr;
}

bool same_registers(const RegisterLayout& a, const RegisterLayout& b) {
  if (a.registers.size() != b.registers.size()) return false;
  for (size_t i = 0; i < a.registers.size(); ++i)
    if (a.registers[i].name != b.registers[i].name ||
        a.registers[i].number != b.registers[i].number ||
        a.registers[i].size_bytes != b.registers[i].size_bytes)
      return false;
  return true;
}

/// The x86 table's own text, when the layout is one of its.
std::string render_x86(const RegisterLayout& layout, std::string_view machine) {
  const X86Features has{layout.find("orig_rax") != nullptr || layout.find("orig_eax") != nullptr,
                        layout.find("fs_base") != nullptr, layout.find("ymm0h") != nullptr,
                        layout.find("zmm0h") != nullptr, layout.find("pkru") != nullptr};
  if (machine == "x86-64" && same_registers(layout, x86_64_layout(has))) return x86_64_tdesc(has);
  if (machine == "i386" && same_registers(layout, i386_layout(has))) return i386_tdesc(has);
  return "";
}

/// A type that GDB has built in, or `int`: what else it might be stood in a description we lost.
std::string_view built_in(std::string_view type) {
  for (std::string_view known :
       {"bool",     "int8",      "int16",       "int32",       "int64",       "int128",
        "uint8",    "uint16",    "uint32",      "uint64",      "uint128",     "code_ptr",
        "data_ptr", "ieee_half", "ieee_single", "ieee_double", "arm_fpa_ext", "i387_ext",
        "bfloat16", "float",     "int"})
    if (type == known) return known;
  return "int";
}

}  // namespace

std::string render_tdesc(const RegisterLayout& layout, std::string_view machine) {
  const CoreFeature* core = find_core(machine);
  if (!core || layout.empty()) return "";
  if (std::string own = render_x86(layout, machine); !own.empty()) return own;
  std::string out = fmt::format(
      "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target>\n"
      "  <architecture>{}</architecture>\n  <feature name=\"{}\">\n",
      core->architecture, core->feature);
  for (const Register& one : layout.registers)
    out += fmt::format("    <reg name=\"{}\" bitsize=\"{}\" type=\"{}\" regnum=\"{}\"/>\n",
                       escape_xml(one.name), one.size_bytes * 8, built_in(one.type), one.number);
  return out + "  </feature>\n</target>\n";
}

}  // namespace tracewell::machine
