// A target description names an architecture but no byte order: GDB takes that from the executable
// and otherwise from its own host. The table gives the order in which Linux systems of that kind
// mostly run; whoever has data to look at may know better.
#include "machine/architecture.h"

namespace tracewell::machine {
namespace {

constexpr Endian kLittle = Endian::Little;
constexpr Endian kBig = Endian::Big;

constexpr Architecture kArchitectures[] = {
    {"i386:x86-64", "x86-64", 8, kLittle, false},
    {"i386:x64-32", "x32", 4, kLittle, false},
    {"i386", "i386", 4, kLittle, false},
    {"i8086", "i386", 4, kLittle, false},
    {"aarch64:ilp32", "aarch64-ilp32", 4, kLittle, true},
    {"aarch64", "aarch64", 8, kLittle, true},
    {"arm", "arm", 4, kLittle, true},
    {"xscale", "arm", 4, kLittle, true},
    {"iwmmxt", "arm", 4, kLittle, true},
    {"ep9312", "arm", 4, kLittle, true},
    {"powerpc:common64", "powerpc64", 8, kBig, true},
    {"powerpc:e500mc64", "powerpc64", 8, kBig, true},
    {"powerpc:e5500", "powerpc64", 8, kBig, true},
    {"powerpc:e6500", "powerpc64", 8, kBig, true},
    {"powerpc:620", "powerpc64", 8, kBig, true},
    {"powerpc:630", "powerpc64", 8, kBig, true},
    {"powerpc:a35", "powerpc64", 8, kBig, true},
    {"powerpc:rs64", "powerpc64", 8, kBig, true},
    {"powerpc", "powerpc", 4, kBig, true},
    {"rs6000", "rs6000", 4, kBig, false},
    {"mips:isa64", "mips64", 8, kBig, true},
    {"mips:octeon", "mips64", 8, kBig, true},
    {"mips:loongson", "mips64", 8, kLittle, true},
    {"mips:gs", "mips64", 8, kLittle, true},
    {"mips", "mips", 4, kBig, true},
    {"s390:31-bit", "s390", 4, kBig, false},
    {"s390:64-bit", "s390x", 8, kBig, false},
    {"riscv:rv32", "riscv32", 4, kLittle, false},
    {"riscv", "riscv64", 8, kLittle, false},
    {"Loongarch32", "loongarch32", 4, kLittle, false},
    {"Loongarch64", "loongarch64", 8, kLittle, false},
    {"sparc:v9", "sparc64", 8, kBig, false},
    {"sparc", "sparc", 4, kBig, false},
    {"alpha", "alpha", 8, kLittle, false},
    {"hppa", "hppa", 4, kBig, false},
    {"ia64-elf32", "ia64", 4, kLittle, true},
    {"ia64", "ia64", 8, kLittle, true},
    {"m68k", "m68k", 4, kBig, false},
    {"sh", "sh", 4, kLittle, true},
    {"m32r", "m32r", 4, kBig, true},
    {"nios2", "nios2", 4, kLittle, true},
    {"or1k", "or1k", 4, kBig, false},
    {"csky", "csky", 4, kLittle, true},
    {"tic6x", "tic6x", 4, kLittle, true},
    {"MicroBlaze", "microblaze", 4, kLittle, true},
    {"microblaze", "microblaze", 4, kLittle, true},
    {"ARC", "arc", 4, kLittle, true},
    {"arc", "arc", 4, kLittle, true},
    {"avr", "avr", 4, kLittle, false},
    {"MSP430", "msp430", 4, kLittle, false},
};

}  // namespace

const Architecture* find_architecture(std::string_view bfd_name) {
  const Architecture* best = nullptr;
  for (const Architecture& one : kArchitectures)
    if (bfd_name.starts_with(one.prefix) && (!best || one.prefix.size() > best->prefix.size()))
      best = &one;
  return best;
}

const Architecture* find_machine(std::string_view machine) {
  for (const Architecture& one : kArchitectures)
    if (one.machine == machine) return &one;
  return nullptr;
}

}  // namespace tracewell::machine
