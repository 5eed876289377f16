#include "formats/tenet.h"

namespace tracewell::formats {
namespace {

constexpr std::string_view kExtensions[] = {"tenet"};
constexpr std::string_view kWide[] = {"rax", "rbx", "rcx", "rdx", "rbp", "rsp", "rsi", "rdi", "r8",
                                      "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
constexpr std::string_view kNarrow[] = {"eax", "ebx", "ecx", "edx", "ebp",
                                        "esp", "esi", "edi", "eip"};

}  // namespace

std::span<const std::string_view> tenet_registers(std::string_view machine) {
  if (machine == "x86-64") return kWide;
  if (machine == "i386") return kNarrow;
  return {};
}

const Format& tenet_format() {
  static const Format kFormat{"tenet",     kExtensions, "Tenet's text log of instructions", false,
                              sniff_tenet, open_tenet,  create_tenet};
  return kFormat;
}

}  // namespace tracewell::formats
