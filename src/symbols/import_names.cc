// Relocations and tables as the psABI supplements of x86-64 and i386 have them. What the entries of
// a table look like is the linker's choice (GNU ld, gold, lld, mold); common to all is the jump
// through a word that a relocation fills. "PE Format" describes imports.
#include "symbols/import_names.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "symbols/demangle.h"

namespace tracewell::symbols {
namespace {

constexpr size_t kImportNameMax = 65536;
constexpr uint64_t kPltEntryBytes = 16;
constexpr int kOwnFunctionsMax = 4096;  // that are reached like others'; a C library has some 100
constexpr size_t kJumpBytes = 6;  // ff 25, and ff a3, with 32 bits

uint64_t load(Bytes bytes, size_t at, size_t size) {
  return load_uint(bytes.data() + at, size, Endian::Little);
}

bool is_x86(const ElfFile& file) {
  return file.machine() == EM_X86_64 || file.machine() == EM_386;
}

/// What a relocation writes at a word that a call goes through.
enum class Filled : uint8_t { No, WithSymbol, WithFunction };

Filled filled_by(uint16_t machine, uint64_t type) {
  if (machine == EM_386) {
    if (type == R_386_JMP_SLOT || type == R_386_GLOB_DAT) return Filled::WithSymbol;
    return type == R_386_IRELATIVE ? Filled::WithFunction : Filled::No;
  }
  if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) return Filled::WithSymbol;
  return type == R_X86_64_IRELATIVE ? Filled::WithFunction : Filled::No;
}

/// The relocations of one section.
class Relocations {
 public:
  Relocations(const ElfFile& file, const ElfFile::Section& section) : file_(file) {
    has_addends_ = section.type == SHT_RELA;
    const Elf_Type kind = has_addends_ ? ELF_T_RELA : ELF_T_REL;
    const size_t one = gelf_fsize(file.elf(), kind, 1, EV_CURRENT);
    if (section.link >= file.sections().size() || one == 0) return;
    const ElfFile::Section& symbols = file.sections()[section.link];
    count_ = std::min<size_t>(section.bytes.size() / one, INT32_MAX);
    if (count_ != 0)
      data_ = elf_getdata_rawchunk(file.elf(), static_cast<int64_t>(section.offset), count_ * one,
                                   kind);
    const size_t symbol = gelf_fsize(file.elf(), ELF_T_SYM, 1, EV_CURRENT);
    if (symbols.link >= file.sections().size() || symbol == 0 || symbols.bytes.empty()) return;
    texts_ = file.sections()[symbols.link].bytes;
    symbol_count_ = std::min<size_t>(symbols.bytes.size() / symbol, INT32_MAX);
    symbols_ = elf_getdata_rawchunk(file.elf(), static_cast<int64_t>(symbols.offset),
                                    symbol_count_ * symbol, ELF_T_SYM);
  }

  size_t count() const { return data_ == nullptr ? 0 : count_; }
  struct One {
    uint64_t place = 0, info = 0, addend = 0;
  };
  std::optional<One> at(size_t i) const {
    const auto number = static_cast<int>(i);
    GElf_Rela rela;
    GElf_Rel rel;
    if (has_addends_ && gelf_getrela(data_, number, &rela) != nullptr)
      return One{rela.r_offset, rela.r_info, static_cast<uint64_t>(rela.r_addend)};
    if (!has_addends_ && gelf_getrel(data_, number, &rel) != nullptr)
      return One{rel.r_offset, rel.r_info, 0};
    return std::nullopt;
  }
  /// A search among all sections, where it does not stand in the relocation.
  uint64_t addend(const One& one) const { return has_addends_ ? one.addend : word_at(one.place); }
  std::string symbol(uint64_t info) const {
    GElf_Sym entry;
    const uint64_t number = GELF_R_SYM(info);
    if (symbols_ == nullptr || number == 0 || number >= symbol_count_ ||
        gelf_getsym(symbols_, static_cast<int>(number), &entry) == nullptr)
      return "";
    return std::string(text_at(texts_, entry.st_name, kImportNameMax).value_or(""));
  }

 private:
  /// What the file has there: without addends it stands where the sum will be.
  uint64_t word_at(uint64_t address) const {
    const uint32_t size = file_.address_bytes();
    for (const ElfFile::Section& section : file_.sections())
      if ((section.flags & SHF_ALLOC) != 0 && address >= section.address &&
          address - section.address + size <= section.bytes.size())
        return load(section.bytes, address - section.address, size);
    return 0;
  }

  const ElfFile& file_;
  bool has_addends_ = true;
  size_t count_ = 0, symbol_count_ = 0;
  Elf_Data* data_ = nullptr;
  Elf_Data* symbols_ = nullptr;
  Bytes texts_;
};

std::string plt_name(std::string_view symbol) {
  return symbol.empty() ? "" : demangled(symbol.substr(0, symbol.find('@', 1))) + "@plt";
}

/// Which word the jump at `at` goes through, if it is one. `got`: what ebx has on i386.
std::optional<uint64_t> word_of_jump(Bytes code, size_t at, uint64_t address, uint32_t bytes,
                                     uint64_t got) {
  if (at + kJumpBytes > code.size() || code[at] != 0xff) return std::nullopt;
  const uint64_t number = load(code, at + 2, 4);
  if (code[at + 1] == 0xa3 && bytes == 4) return (got + number) & UINT32_MAX;
  if (code[at + 1] != 0x25) return std::nullopt;
  if (bytes == 4) return number;
  return address + at + kJumpBytes + static_cast<uint64_t>(int64_t{static_cast<int32_t>(number)});
}

/// An entry that lazy binding begins with: it pushes the relocation's number, or on i386 its
/// distance in the table.
std::optional<uint64_t> pushed_number(Bytes entry, uint32_t address_bytes) {
  constexpr uint8_t kPush = 0x68;
  constexpr size_t kEndbr = 4, kI386Relocation = 8;
  for (const size_t at : {size_t{0}, kEndbr}) {
    if (at + 5 > entry.size() || entry[at] != kPush) continue;
    const uint64_t number = load(entry, at + 1, 4);
    return address_bytes == 4 ? number / kI386Relocation : number;
  }
  return std::nullopt;
}

}  // namespace

void ImportNames::read(const ElfFile& file, const FunctionName& function_name) {
  if (!is_x86(file)) return;
  Slots slots;
  std::vector<std::string> by_number;  // of the table of jumps
  int functions = kOwnFunctionsMax;
  for (const ElfFile::Section& section : file.sections()) {
    if (section.type != SHT_RELA && section.type != SHT_REL) continue;
    if ((section.flags & SHF_ALLOC) == 0) continue;
    const bool of_plt = section.name == ".rela.plt" || section.name == ".rel.plt";
    const Relocations all(file, section);
    for (size_t i = 0; i < all.count() && left_ > 0; ++i, --left_) {
      const auto one = all.at(i);
      if (!one) break;
      const Filled filled = filled_by(file.machine(), GELF_R_TYPE(one->info));
      std::string name;
      if (filled == Filled::WithSymbol) name = all.symbol(one->info);
      if (filled == Filled::WithFunction && functions-- > 0) name = function_name(all.addend(*one));
      if (of_plt) by_number.push_back(name);
      if (!name.empty()) slots.try_emplace(one->place, std::move(name));
    }
  }
  for (const ElfFile::Section& section : file.sections())
    if ((section.name.starts_with(".plt") || section.name == ".iplt") &&
        (section.flags & SHF_EXECINSTR) != 0)
      read_plt(file, section, slots, by_number);
  index();
}

void ImportNames::read_plt(const ElfFile& file, const ElfFile::Section& section,
                           const Slots& slots, const std::vector<std::string>& by_number) {
  const ElfFile::Section* got = file.find(".got.plt");
  if (got == nullptr) got = file.find(".got");
  const uint64_t got_address = got == nullptr ? 0 : got->address;
  const uint64_t stated = section.entry_bytes;
  const uint64_t entry = stated == 8 || stated == 16 || stated == 32 ? stated : kPltEntryBytes;
  for (uint64_t at = 0; at < section.bytes.size() && left_ > 0; at += entry, --left_) {
    const Bytes code = section.bytes.subspan(at, std::min(entry, section.bytes.size() - at));
    std::string name;
    for (size_t i = 0; i < code.size() && name.empty(); ++i)
      if (const auto word = word_of_jump(code, i, section.address + at, file.address_bytes(),
                                         got_address))
        if (const auto slot = slots.find(*word); slot != slots.end()) name = slot->second;
    const auto number = name.empty() ? pushed_number(code, file.address_bytes()) : std::nullopt;
    if (number && *number < by_number.size()) name = by_number[*number];
    if (!name.empty())
      places_.push_back({section.address + at, code.size(), plt_name(name), true});
  }
}

void ImportNames::read(const PeFile& file) {
  constexpr size_t kEntry = 20, kDelayedEntry = 32;
  Slots slots;
  const auto library = [&](uint32_t rva) {
    const std::string_view name =
        text_at(file.from(rva), 0, kImportNameMax).value_or(std::string_view());
    const size_t dot = name.rfind('.');
    return std::string(name.substr(0, dot));
  };
  const auto entries = [&](PeFile::Table which, size_t size, const auto& take) {
    const Bytes all = file.from(file.table(which).rva);
    if (file.table(which).size == 0) return;
    for (size_t at = 0; at + size <= all.size() && left_ > 0; at += size, --left_) {
      const Bytes one = all.subspan(at, size);
      if (std::ranges::all_of(one, [](uint8_t byte) { return byte == 0; })) return;
      take(one);
    }
  };
  const auto number = [](Bytes entry, size_t at) {
    return static_cast<uint32_t>(load(entry, at, 4));
  };
  entries(PeFile::Table::Imports, kEntry, [&](Bytes one) {
    const uint32_t names = number(one, 0), words = number(one, 16);
    read_table(file, library(number(one, 12)), names != 0 ? names : words, words, slots);
  });
  // Those that are looked for when they are first called; old ones have addresses in place of RVAs.
  entries(PeFile::Table::DelayedImports, kDelayedEntry, [&](Bytes one) {
    if ((number(one, 0) & 1) != 0)
      read_table(file, library(number(one, 4)), number(one, 16), number(one, 12), slots);
  });
  for (const auto& [address, name] : slots)
    places_.push_back({address, file.address_bytes(), name, false});
  for (const PeFile::Section& section : file.sections())
    if (section.code()) read_thunks(file, section, slots);
  index();
}

/// A word for each: the address of a hint and a name or, with the highest bit, a number.
void ImportNames::read_table(const PeFile& file, std::string_view library, uint32_t names,
                             uint32_t words, Slots& slots) {
  const uint32_t word = file.address_bytes();
  const uint64_t by_number = uint64_t{1} << (8 * word - 1);
  const Bytes all = file.from(names);
  if (library.empty()) return;
  for (size_t at = 0; at + word <= all.size() && left_ > 0; at += word, --left_) {
    const uint64_t value = load(all, at, word);
    if (value == 0) return;
    std::string name = fmt::format("#{}", value & 0xffff);
    if ((value & by_number) == 0) {
      const Bytes text = file.from(static_cast<uint32_t>(value & INT32_MAX));
      if (text.size() < 2) continue;
      name = text_at(text.subspan(2), 0, kImportNameMax).value_or(std::string_view());
    }
    if (!name.empty())
      slots.try_emplace(file.image_base() + words + at, fmt::format("{}!{}", library, name));
  }
}

/// Jumps that compilers and linkers make for calls to what was not known to be another image's.
void ImportNames::read_thunks(const PeFile& file, const PeFile::Section& section,
                              const Slots& slots) {
  if (slots.empty()) return;
  const Bytes code = section.bytes.first(std::min<size_t>(section.size, section.bytes.size()));
  const uint64_t start = file.image_base() + section.rva;
  for (size_t at = 0; at + kJumpBytes <= code.size(); ++at) {
    if (code[at] != 0xff || code[at + 1] != 0x25) continue;
    const auto word = word_of_jump(code, at, start, file.address_bytes(), 0);
    const auto slot = word ? slots.find(*word) : slots.end();
    if (slot == slots.end()) continue;
    places_.push_back({start + at, kJumpBytes, slot->second, true});
    at += kJumpBytes - 1;
  }
}

/// Where two are said to be at one place, the first is kept.
void ImportNames::index() {
  std::ranges::stable_sort(places_, {}, &Place::address);
  const auto rest = std::ranges::unique(places_, {}, &Place::address);
  places_.erase(rest.begin(), rest.end());
}

const ImportNames::Place* ImportNames::find(uint64_t address, bool code) const {
  const auto next = std::ranges::upper_bound(places_, address, {}, &Place::address);
  if (next == places_.begin()) return nullptr;
  const Place& place = *std::prev(next);
  return address - place.address < place.size && place.code == code ? &place : nullptr;
}

}  // namespace tracewell::symbols
