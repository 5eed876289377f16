// Reading target.xml. GDB's rules that matter: a register without `regnum` gets the number after
// the one before it (0 at first) across features; a register block holds the registers by number
// without gaps for unused ones; a type is a name, either built in or defined in the feature.
#include "machine/tdesc.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/text/text.h"
#include "machine/architecture.h"

namespace tracewell::machine {
namespace {

// A description is text about at most some hundred registers; the largest known ones have 100 KB.
constexpr size_t kXmlBytesMax = 8 << 20;
constexpr uint64_t kRegisterBitsMax = 8 * 65536;  // wider than any machine's widest
constexpr uint64_t kNumberMax = 0xffff;           // an R mask or `reg` operand has 16 bits
constexpr size_t kRegistersMax = 16384;

/// Where the problems go, and where in the input the description is.
struct Complaints {
  ProblemLog& problems;
  std::optional<uint64_t> offset;

  void add(Problem::Severity severity, std::string text) const {
    problems.add({offset, severity, "tdesc", std::move(text)});
  }
};

/// Like strtoul with base 0 as far as anybody uses it: decimal or 0x.
std::optional<uint64_t> attribute_number(pugi::xml_node node, const char* name) {
  return parse_number(node.attribute(name).value());
}

class LayoutBuilder {
 public:
  explicit LayoutBuilder(const Complaints& complaints) : complaints_(complaints) {}

  void add(pugi::xml_node node) {
    const std::string name = node.attribute("name").value();
    const auto bits = attribute_number(node, "bitsize");
    uint64_t number = next_number_;
    if (node.attribute("regnum")) {
      const auto given = attribute_number(node, "regnum");
      if (!given || *given > kNumberMax) return bad(name, "has a bad number");
      number = *given;
    }
    if (name.empty()) return bad(name, "has no name");
    if (!bits || *bits == 0 || *bits > kRegisterBitsMax) return bad(name, "has a bad size");
    if (number > kNumberMax || registers_.size() >= kRegistersMax)
      return bad(name, "is one too many");
    next_number_ = number + 1;
    const char* type = node.attribute("type").as_string("int");
    registers_.push_back({{name, static_cast<uint32_t>(number), 0,
                           static_cast<uint32_t>((*bits + 7) / 8), type},
                          node.offset_debug()});
  }

  /// `described_bytes` becomes the size of the block with all registers.
  RegisterLayout finish(uint32_t& described_bytes) {
    std::stable_sort(registers_.begin(), registers_.end(), [](const Read& a, const Read& b) {
      return a.reg.number < b.reg.number;
    });
    RegisterLayout layout;
    std::unordered_set<std::string> names;
    std::optional<uint32_t> last_number;
    for (auto& [one, place] : registers_) {
      if (last_number == one.number) {
        bad(one.name, "has a number that is taken");
        continue;
      }
      last_number = one.number;
      const bool full = described_bytes != layout.size_bytes;
      described_bytes += one.size_bytes;
      if (full) continue;
      if (described_bytes > kRegisterBlockBytesMax) {
        bad(one.name, fmt::format("(at byte {} of the description) and those behind it have no "
                                  "room in a block of {} bytes",
                                  place, kRegisterBlockBytesMax));
        continue;
      }
      if (!names.insert(one.name).second) {  // names are keys elsewhere; its bytes stay
        complaints_.add(Problem::Severity::Warning,
                        fmt::format("two registers are called \"{}\"", printable(one.name)));
        one.name += fmt::format(".{}", one.number);
        names.insert(one.name);
      }
      one.offset = layout.size_bytes;
      layout.size_bytes += one.size_bytes;
      layout.registers.push_back(std::move(one));
    }
    return layout;
  }

 private:
  void bad(const std::string& name, std::string_view why) {
    complaints_.add(Problem::Severity::Warning,
                    fmt::format("register \"{}\" {}; left out", printable(name), why));
  }

  struct Read {
    Register reg;
    ptrdiff_t place;  // in the text
  };
  const Complaints& complaints_;
  std::vector<Read> registers_;
  uint64_t next_number_ = 0;
};

std::string trimmed(std::string_view text) {
  const char* const kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

void read_architecture(TargetDescription& out, const Complaints& complaints) {
  if (out.architecture.empty()) return;
  const Architecture* known = find_architecture(out.architecture);
  if (!known) {
    complaints.add(
        Problem::Severity::Warning,
        fmt::format("architecture \"{}\" is not known; taken as 64 bits, little endian",
                    printable(out.architecture)));
    return;
  }
  out.machine = known->machine;
  out.address_bytes = known->address_bytes;
  out.endian = known->endian;
  out.either_endian = known->either_endian;
}

}  // namespace

TargetDescription parse_tdesc(std::string_view xml, ProblemLog& problems,
                              std::optional<uint64_t> offset) {
  const Complaints complaints{problems, offset};
  TargetDescription out;
  if (xml.size() > kXmlBytesMax) {
    complaints.add(Problem::Severity::Damage, "the target description is too long; ignored");
    return out;
  }
  pugi::xml_document document;
  const auto parsed = document.load_buffer(xml.data(), xml.size());
  pugi::xml_node target = document.child("target");
  if (!parsed)
    complaints.add(Problem::Severity::Damage,
                   fmt::format("the target description is not well-formed at its byte {}: {}",
                               parsed.offset, parsed.description()));
  if (!target) {
    if (parsed)
      complaints.add(Problem::Severity::Damage, "the target description has no <target>");
    return out;
  }
  LayoutBuilder layout(complaints);
  for (pugi::xml_node node : target.children()) {
    const std::string_view tag = node.name();
    if (tag == "architecture") {
      out.architecture = trimmed(node.child_value());
    } else if (tag == "osabi") {
      out.osabi = trimmed(node.child_value());
    } else if (tag == "feature") {
      for (pugi::xml_node item : node.children("reg")) layout.add(item);
    } else if (tag == "xi:include") {
      complaints.add(Problem::Severity::Warning,
                     fmt::format("the target description includes \"{}\", which is not part of "
                                 "it; its registers are missing",
                                 printable(node.attribute("href").value())));
    }
  }
  read_architecture(out, complaints);
  out.registers = layout.finish(out.described_bytes);
  mark_special_registers(out.registers, out.machine);
  return out;
}

void mark_special_registers(RegisterLayout& layout, std::string_view machine) {
  auto index_of = [&](std::initializer_list<std::string_view> names) -> std::optional<uint32_t> {
    for (std::string_view name : names)
      if (const Register* found = layout.find(name))
        return static_cast<uint32_t>(found - layout.registers.data());
    return std::nullopt;
  };
  layout.pc_index = index_of({"rip", "eip", "pc", "pswa", "npc"});
  if (!layout.pc_index) {
    for (uint32_t i = 0; i < layout.registers.size() && !layout.pc_index; ++i)
      if (layout.registers[i].type == "code_ptr") layout.pc_index = i;
  }
  if (machine.starts_with("powerpc") || machine == "rs6000")
    layout.sp_index = index_of({"r1"});
  else if (machine.starts_with("s390"))
    layout.sp_index = index_of({"r15"});
  else if (machine.starts_with("mips"))
    layout.sp_index = index_of({"r29", "sp"});
  else
    layout.sp_index = index_of({"rsp", "esp", "sp"});
}

}  // namespace tracewell::machine
