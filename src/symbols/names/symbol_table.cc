// Symbol tables as the System V ABI describes them, and what linkers add: ARM marks Thumb functions
// by an odd address, and marks what is code and what data by untyped symbols named $a, $d, ….
#include "symbols/names/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "symbols/elf/elf_file.h"

namespace tracewell::symbols {
namespace {

/// What a program maps at an address of its own; thread-local storage is mapped elsewhere.
bool is_mapped(const ElfFile::Section& section) {
  return (section.flags & SHF_ALLOC) != 0 && (section.flags & SHF_TLS) == 0;
}

uint64_t end_of(uint64_t address, uint64_t size) {
  return size > UINT64_MAX - address ? UINT64_MAX : address + size;
}

constexpr uint8_t kRankMax = 3;

uint8_t rank_of(unsigned char binding) {
  switch (binding) {
    case STB_GLOBAL:
    case STB_GNU_UNIQUE:
      return 0;
    case STB_LOCAL:
      return 1;
    case STB_WEAK:
      return 2;
    default:
      return kRankMax;
  }
}

struct ElfSymbol {
  uint64_t value = 0, size = 0;
  uint32_t name = 0;
  uint16_t section = 0;
  uint8_t info = 0;
};

ElfSymbol symbol_of(const ElfFile& file, Bytes entry) {
  const auto number = [&](size_t at, size_t size) {
    return load_uint(entry.data() + at, size, file.endian());
  };
  ElfSymbol out;
  const bool is_64 = file.address_bytes() == 8;
  out.name = static_cast<uint32_t>(number(0, 4));
  out.info = entry[is_64 ? 4 : 12];
  out.section = static_cast<uint16_t>(number(is_64 ? 6 : 14, 2));
  out.value = is_64 ? number(8, 8) : number(4, 4);
  out.size = is_64 ? number(16, 8) : number(8, 4);
  return out;
}

/// Names of any length are read, but not without end for each of them.
constexpr size_t kNameMax = 65536;
constexpr size_t kScanWork = 64;  // bytes of one that are as much work as an entry

}  // namespace

void SymbolTable::read(const ElfFile& file, std::span<const VariableSize> sizes,
                       const Stop& stop) {
  Work work(UINT64_MAX, stop);
  whole_ = read_table(file, SHT_SYMTAB, work);
  if (!whole_ && !read_table(file, SHT_DYNSYM, work)) return;
  std::vector<Area> areas;
  for (const ElfFile::Section& section : file.sections())
    if (is_mapped(section))
      areas.push_back({section.address, end_of(section.address, section.size),
                       (section.flags & SHF_EXECINSTR) != 0});
  take_sizes(sizes, work);
  if (!index(areas, work)) *this = {};
}

void SymbolTable::take_sizes(std::span<const VariableSize> sizes, Work& work) {
  if (sizes.empty()) return;
  for (Symbol& symbol : symbols_) {
    if (!work.take()) return;
    if (symbol.size != 0 || symbol.kind != Kind::Object) continue;
    const auto found =
        std::ranges::lower_bound(sizes, symbol.address, {}, &VariableSize::address);
    if (found != sizes.end() && found->address == symbol.address) symbol.size = found->size;
  }
}

/// `is_mark`: the name begins with $. nullopt = nothing that an address could be in.
std::optional<SymbolTable::Kind> SymbolTable::kind_of(unsigned char type, bool is_mark) {
  switch (type) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
      return Kind::Function;
    case STT_OBJECT:
    case STT_COMMON:
      return Kind::Object;
    case STT_NOTYPE:
      return is_mark ? std::nullopt : std::optional(Kind::Label);
    default:
      return std::nullopt;
  }
}

bool SymbolTable::read_table(const ElfFile& file, uint32_t type, Work& work) {
  const ElfFile::Section* table = file.find(type);
  if (table == nullptr || table->link >= file.sections().size()) return false;
  const ElfFile::Section& strings = file.sections()[table->link];
  const size_t one = file.address_bytes() == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  if (strings.type != SHT_STRTAB || table->entry_bytes != one || table->bytes.size() < one ||
      ((table->flags | strings.flags) & SHF_COMPRESSED) != 0)
    return false;
  strings_ = strings.bytes;
  const size_t count = std::min(table->bytes.size() / one, kEntriesMax);
  for (size_t i = 1; i < count && work.take(); ++i) {  // the first is the empty one
    ElfSymbol entry = symbol_of(file, table->bytes.subspan(i * one, one));
    // What is not defined here, and what is a number and no address. SHN_XINDEX says that the
    // section's number is too large to stand here.
    if (entry.section == SHN_UNDEF ||
        (entry.section >= SHN_LORESERVE && entry.section != SHN_XINDEX))
      continue;
    if (entry.name >= strings_.size() || strings_[entry.name] == '\0') continue;
    const auto kind = kind_of(ELF64_ST_TYPE(entry.info), strings_[entry.name] == '$');
    if (!kind) continue;
    if (*kind == Kind::Function && file.machine() == EM_ARM) entry.value &= ~uint64_t{1};
    symbols_.push_back({entry.value, entry.size, entry.name, rank_of(ELF64_ST_BIND(entry.info)),
                        *kind});
  }
  return !symbols_.empty();
}

/// By rank; among equals as they are.
void SymbolTable::prefer(Work& work) {
  std::vector<Symbol> out;
  out.reserve(symbols_.size());
  for (uint8_t rank = 0; rank <= kRankMax; ++rank)
    for (const Symbol& symbol : symbols_) {
      if (!work.take()) return;
      if (symbol.rank == rank) out.push_back(symbol);
    }
  symbols_ = std::move(out);
}

/// Sections are looked up by address and not by the number in the symbol, which may lie. False:
/// nobody waits.
bool SymbolTable::index(std::span<const Area> areas, Work& work) {
  RangeIndex mapped;
  for (size_t i = 0; i < areas.size(); ++i)
    mapped.add(areas[i].address, areas[i].end, static_cast<uint32_t>(i));
  mapped.build();

  std::vector<uint64_t> starts;
  for (const Symbol& symbol : symbols_) starts.push_back(symbol.address);
  if (!sort_unless(work.stop(), starts, std::less<>())) return false;
  prefer(work);
  for (size_t i = 0; i < symbols_.size() && work.take(); ++i) {
    const Symbol& symbol = symbols_[i];
    const auto where = mapped.find(symbol.address);
    if (!where) continue;
    const Area& area = areas[*where];
    uint64_t end = area.end;
    if (symbol.size != 0) {
      end = std::min(end, end_of(symbol.address, symbol.size));
    } else {
      const auto next = std::upper_bound(starts.begin(), starts.end(), symbol.address);
      if (next != starts.end()) end = std::min(end, *next);
    }
    const auto number = static_cast<uint32_t>(i);
    // A function outside of code is a descriptor, as 64-bit PowerPC once had them.
    if (symbol.kind == Kind::Function && area.code) functions_.add(symbol.address, end, number);
    if (symbol.kind == Kind::Label && area.code) labels_.add(symbol.address, end, number);
    if (symbol.kind == Kind::Object) objects_.add(symbol.address, end, number);
  }
  for (RangeIndex* const one : {&functions_, &labels_, &objects_})
    if (!work.over()) one->build(work.stop());
  return !work.over();
}

std::string_view SymbolTable::name_of(const Symbol& symbol) const {
  if (symbol.name_bytes != 0) {
    const std::string_view name = as_text(strings_.subspan(symbol.name, symbol.name_bytes));
    return name.substr(0, name.find('\0'));
  }
  const auto name = text_at(strings_, symbol.name, kNameMax).value_or(std::string_view());
  // "stdout@@GLIBC_2.2.5"
  return versions_ ? name.substr(0, name.find('@', 1)) : name;
}

std::optional<SymbolTable::Found> SymbolTable::found(std::optional<uint32_t> number,
                                                     uint64_t address) const {
  if (!number) return std::nullopt;
  const Symbol& symbol = symbols_[*number];
  const std::string_view name = name_of(symbol);
  if (name.empty()) return std::nullopt;
  return Found{name, address - symbol.address};
}

std::vector<SymbolTable::Named> SymbolTable::find_named(
    const std::function<bool(std::string_view)>& wanted, const Stop& stop) const {
  std::vector<Named> out;
  Work work(UINT64_MAX, stop);
  for (const Symbol& symbol : symbols_) {
    const std::string_view name = name_of(symbol);
    if (!work.take(1 + name.size() / kScanWork)) break;
    if (!name.empty() && wanted(name))
      out.push_back({name, symbol.address, symbol.size, symbol.kind == Kind::Object});
  }
  return out;
}

std::optional<SymbolTable::Found> SymbolTable::find_function(uint64_t address) const {
  const auto number = functions_.find(address);
  return found(number ? number : labels_.find(address), address);
}

std::optional<SymbolTable::Found> SymbolTable::find_object(uint64_t address) const {
  return found(objects_.find(address), address);
}

}  // namespace tracewell::symbols
