// One table per processor says everything; layout and XML are two readings of it.
#include "machine/x86.h"

#include <span>

#include <fmt/format.h>

#include "machine/tdesc.h"

namespace tracewell::machine {
namespace {

/// A run of like registers: stem + number + tail ("ymm", 16, "h"), or one register (count 0).
struct Run {
  std::string_view stem;
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t bits = 64;
  std::string_view type;
  std::string_view tail = "";
  std::string_view group = "";
};

enum class Types : uint8_t { None, Eflags, SseVectors, WideVectors, AllVectors };

struct Feature {
  std::string_view name;
  bool X86Features::*when;  // nullptr = always
  Types types;
  std::span<const Run> runs;
};

constexpr Run kCore64[] = {
    {"rax", 0, 0, 64, "int64"},
    {"rbx", 0, 0, 64, "int64"},
    {"rcx", 0, 0, 64, "int64"},
    {"rdx", 0, 0, 64, "int64"},
    {"rsi", 0, 0, 64, "int64"},
    {"rdi", 0, 0, 64, "int64"},
    {"rbp", 0, 0, 64, "data_ptr"},
    {"rsp", 0, 0, 64, "data_ptr"},
    {"r", 8, 8, 64, "int64"},
    {"rip", 0, 0, 64, "code_ptr"},
    {"eflags", 0, 0, 32, "i386_eflags"},
    {"cs", 0, 0, 32, "int32"},
    {"ss", 0, 0, 32, "int32"},
    {"ds", 0, 0, 32, "int32"},
    {"es", 0, 0, 32, "int32"},
    {"fs", 0, 0, 32, "int32"},
    {"gs", 0, 0, 32, "int32"},
    {"st", 0, 8, 80, "i387_ext"},
    {"fctrl", 0, 0, 32, "int", "", "float"},
    {"fstat", 0, 0, 32, "int", "", "float"},
    {"ftag", 0, 0, 32, "int", "", "float"},
    {"fiseg", 0, 0, 32, "int", "", "float"},
    {"fioff", 0, 0, 32, "int", "", "float"},
    {"foseg", 0, 0, 32, "int", "", "float"},
    {"fooff", 0, 0, 32, "int", "", "float"},
    {"fop", 0, 0, 32, "int", "", "float"},
};
constexpr Run kCore32[] = {
    {"eax", 0, 0, 32, "int32"},
    {"ecx", 0, 0, 32, "int32"},
    {"edx", 0, 0, 32, "int32"},
    {"ebx", 0, 0, 32, "int32"},
    {"esp", 0, 0, 32, "data_ptr"},
    {"ebp", 0, 0, 32, "data_ptr"},
    {"esi", 0, 0, 32, "int32"},
    {"edi", 0, 0, 32, "int32"},
    {"eip", 0, 0, 32, "code_ptr"},
    {"eflags", 0, 0, 32, "i386_eflags"},
    {"cs", 0, 0, 32, "int32"},
    {"ss", 0, 0, 32, "int32"},
    {"ds", 0, 0, 32, "int32"},
    {"es", 0, 0, 32, "int32"},
    {"fs", 0, 0, 32, "int32"},
    {"gs", 0, 0, 32, "int32"},
    {"st", 0, 8, 80, "i387_ext"},
    {"fctrl", 0, 0, 32, "int", "", "float"},
    {"fstat", 0, 0, 32, "int", "", "float"},
    {"ftag", 0, 0, 32, "int", "", "float"},
    {"fiseg", 0, 0, 32, "int", "", "float"},
    {"fioff", 0, 0, 32, "int", "", "float"},
    {"foseg", 0, 0, 32, "int", "", "float"},
    {"fooff", 0, 0, 32, "int", "", "float"},
    {"fop", 0, 0, 32, "int", "", "float"},
};
constexpr Run kSse64[] = {{"xmm", 0, 16, 128, "vec128"},
                          {"mxcsr", 0, 0, 32, "i386_mxcsr", "", "vector"}};
constexpr Run kSse32[] = {{"xmm", 0, 8, 128, "vec128"},
                          {"mxcsr", 0, 0, 32, "i386_mxcsr", "", "vector"}};
constexpr Run kLinux64[] = {{"orig_rax", 0, 0, 64, "int"}};
constexpr Run kLinux32[] = {{"orig_eax", 0, 0, 32, "int"}};
constexpr Run kSegments[] = {{"fs_base", 0, 0, 64, "int"}, {"gs_base", 0, 0, 64, "int"}};
constexpr Run kAvx64[] = {{"ymm", 0, 16, 128, "uint128", "h"}};
constexpr Run kAvx32[] = {{"ymm", 0, 8, 128, "uint128", "h"}};
constexpr Run kAvx512_64[] = {{"xmm", 16, 16, 128, "vec128"},
                              {"ymm", 16, 16, 128, "uint128", "h"},
                              {"k", 0, 8, 64, "uint64"},
                              {"zmm", 0, 32, 256, "v2ui128", "h"}};
constexpr Run kAvx512_32[] = {{"k", 0, 8, 64, "uint64"}, {"zmm", 0, 8, 256, "v2ui128", "h"}};
constexpr Run kPkeys[] = {{"pkru", 0, 0, 32, "uint32"}};

constexpr Feature kFeatures64[] = {
    {"core", nullptr, Types::Eflags, kCore64},
    {"sse", nullptr, Types::SseVectors, kSse64},
    {"linux", &X86Features::linux_abi, Types::None, kLinux64},
    {"segments", &X86Features::segments, Types::None, kSegments},
    {"avx", &X86Features::avx, Types::None, kAvx64},
    {"avx512", &X86Features::avx512, Types::AllVectors, kAvx512_64},
    {"pkeys", &X86Features::pkeys, Types::None, kPkeys},
};
constexpr Feature kFeatures32[] = {
    {"core", nullptr, Types::Eflags, kCore32},
    {"sse", nullptr, Types::SseVectors, kSse32},
    {"linux", &X86Features::linux_abi, Types::None, kLinux32},
    {"avx", &X86Features::avx, Types::None, kAvx32},
    {"avx512", &X86Features::avx512, Types::WideVectors, kAvx512_32},
    {"pkeys", &X86Features::pkeys, Types::None, kPkeys},
};

struct Bit {
  std::string_view name;
  uint32_t at;
};
constexpr Bit kEflagsBits[] = {{"CF", 0},   {"", 1},    {"PF", 2},  {"AF", 4},  {"ZF", 6},
                               {"SF", 7},   {"TF", 8},  {"IF", 9},  {"DF", 10}, {"OF", 11},
                               {"NT", 14},  {"RF", 16}, {"VM", 17}, {"AC", 18}, {"VIF", 19},
                               {"VIP", 20}, {"ID", 21}};
constexpr Bit kMxcsrBits[] = {{"IE", 0},  {"DE", 1},  {"ZE", 2},  {"OE", 3}, {"UE", 4},
                              {"PE", 5},  {"DAZ", 6}, {"IM", 7},  {"DM", 8}, {"ZM", 9},
                              {"OM", 10}, {"UM", 11}, {"PM", 12}, {"FZ", 15}};

struct View {  // one way to look at a 128-bit vector
  std::string_view field, id, element;
  uint32_t count;
};
constexpr View kViews[] = {
    {"v8_bfloat16", "v8bf16", "bfloat16", 8}, {"v8_half", "v8h", "ieee_half", 8},
    {"v4_float", "v4f", "ieee_single", 4},    {"v2_double", "v2d", "ieee_double", 2},
    {"v16_int8", "v16i8", "int8", 16},        {"v8_int16", "v8i16", "int16", 8},
    {"v4_int32", "v4i32", "int32", 4},        {"v2_int64", "v2i64", "int64", 2},
};

std::string flags_xml(std::string_view id, std::span<const Bit> bits) {
  std::string out = fmt::format("    <flags id=\"{}\" size=\"4\">\n", id);
  for (const Bit& bit : bits)
    out += fmt::format("      <field name=\"{}\" start=\"{}\" end=\"{}\" type=\"bool\"/>\n",
                       bit.name, bit.at, bit.at);
  return out + "    </flags>\n";
}

std::string vectors_xml() {
  std::string out;
  for (const View& view : kViews)
    out += fmt::format("    <vector id=\"{}\" type=\"{}\" count=\"{}\"/>\n", view.id, view.element,
                       view.count);
  out += "    <union id=\"vec128\">\n";
  for (const View& view : kViews)
    out += fmt::format("      <field name=\"{}\" type=\"{}\"/>\n", view.field, view.id);
  return out + "      <field name=\"uint128\" type=\"uint128\"/>\n    </union>\n";
}

std::string types_xml(Types types) {
  const std::string wide = "    <vector id=\"v2ui128\" type=\"uint128\" count=\"2\"/>\n";
  switch (types) {
    case Types::None:
      return "";
    case Types::Eflags:
      return flags_xml("i386_eflags", kEflagsBits);
    case Types::SseVectors:
      return vectors_xml() + flags_xml("i386_mxcsr", kMxcsrBits);
    case Types::WideVectors:
      return wide;
    case Types::AllVectors:
      return vectors_xml() + wide;
  }
  return "";
}

template <class Visit>  // visit(const Run&, std::string name)
void each_register(const Feature& feature, Visit&& visit) {
  for (const Run& run : feature.runs) {
    if (run.count == 0) visit(run, std::string(run.stem));
    for (uint32_t i = 0; i < run.count; ++i)
      visit(run, fmt::format("{}{}{}", run.stem, run.first + i, run.tail));
  }
}

bool present(const Feature& feature, const X86Features& has) {
  if (feature.when == &X86Features::avx) return has.avx || has.avx512;
  return feature.when == nullptr || has.*feature.when;
}

uint32_t block_bytes_of(std::span<const Feature> features, const X86Features& has) {
  uint32_t bytes = 0;
  for (const Feature& feature : features)
    if (present(feature, has))
      for (const Run& run : feature.runs) bytes += run.bits / 8 * (run.count == 0 ? 1 : run.count);
  return bytes;
}

RegisterLayout make_layout(std::span<const Feature> features, const X86Features& has) {
  RegisterLayout layout;
  for (const Feature& feature : features) {
    if (!present(feature, has)) continue;
    each_register(feature, [&](const Run& run, std::string name) {
      layout.registers.push_back({std::move(name), static_cast<uint32_t>(layout.registers.size()),
                                  layout.size_bytes, run.bits / 8, std::string(run.type)});
      layout.size_bytes += run.bits / 8;
    });
  }
  mark_special_registers(layout, "x86");
  return layout;
}

std::string make_xml(std::string_view architecture, std::span<const Feature> features,
                     const X86Features& has) {
  std::string out = fmt::format(
      "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target>\n"
      "  <architecture>{}</architecture>\n  <osabi>GNU/Linux</osabi>\n",
      architecture);
  uint32_t number = 0;
  for (const Feature& feature : features) {
    if (!present(feature, has)) continue;
    out += fmt::format("  <feature name=\"org.gnu.gdb.i386.{}\">\n", feature.name);
    out += types_xml(feature.types);
    each_register(feature, [&](const Run& run, const std::string& name) {
      out += fmt::format("    <reg name=\"{}\" bitsize=\"{}\" type=\"{}\" regnum=\"{}\"", name,
                         run.bits, run.type, number++);
      if (!run.group.empty()) out += fmt::format(" group=\"{}\"", run.group);
      out += "/>\n";
    });
    out += "  </feature>\n";
  }
  return out + "</target>\n";
}

}  // namespace

RegisterLayout x86_64_layout(const X86Features& features) {
  return make_layout(kFeatures64, features);
}

RegisterLayout i386_layout(const X86Features& features) {
  return make_layout(kFeatures32, features);
}

std::string x86_64_tdesc(const X86Features& features) {
  return make_xml("i386:x86-64", kFeatures64, features);
}

std::string i386_tdesc(const X86Features& features) {
  return make_xml("i386", kFeatures32, features);
}

RegisterLayout default_layout(uint32_t block_bytes, std::string& machine) {
  for (const bool wide : {true, false}) {
    if (machine != "unknown" && machine != (wide ? "x86-64" : "i386")) continue;
    for (uint32_t mask = 0; mask < 32; ++mask) {
      const X86Features has{(mask & 1) == 0, (mask & 2) == 0, (mask & 4) != 0, (mask & 8) != 0,
                            (mask & 16) != 0};
      const std::span<const Feature> features =
          wide ? std::span<const Feature>(kFeatures64) : std::span<const Feature>(kFeatures32);
      if (block_bytes_of(features, has) != block_bytes) continue;
      machine = wide ? "x86-64" : "i386";
      return make_layout(features, has);
    }
  }
  return {};
}

}  // namespace tracewell::machine
