// Relocations and tables as the psABI supplements of x86-64 and i386 have them. What the entries of
// a table look like is the linker's choice (GNU ld, gold, lld, mold); common to all is the jump
// through a word that a relocation fills. "PE Format" describes imports.
#include "symbols/names/import_names.h"

#include <elf.h>

#include <algorithm>

#include <fmt/format.h>


namespace tracewell::symbols {
namespace {

constexpr size_t kImportNameMax = 65536;
constexpr std::string_view kPlt = "@plt";
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

/// The text that begins there, and all behind it that it may have.
std::string_view text_from(Bytes texts, uint64_t at) {
  if (at >= texts.size()) return {};
  return as_text(texts.subspan(at)).substr(0, kImportNameMax + 1);
}

/// nullopt: no NUL ends it.
std::optional<std::string_view> ended(std::string_view text) {
  const size_t end = text.find('\0');
  return end == std::string_view::npos ? std::nullopt : std::optional(text.substr(0, end));
}

bool begins(std::string_view text) { return !text.empty() && text[0] != '\0'; }

/// The relocations of one section. Read where they stand: a library would copy tables that are not
/// aligned, and any number of sections may hold the same ones.
class Relocations {
 public:
  Relocations(const ElfFile& file, const ElfFile::Section& section)
      : file_(file), word_(file.address_bytes()), has_addends_(section.type == SHT_RELA) {
    table_ = section.bytes;
    if (section.link >= file.sections().size()) table_ = {};
    if (table_.empty()) return;
    const ElfFile::Section& symbols = file.sections()[section.link];
    if (symbols.link >= file.sections().size()) return;
    symbols_ = symbols.bytes;
    texts_ = file.sections()[symbols.link].bytes;
  }

  size_t count() const { return table_.size() / entry_bytes(); }
  struct One {
    uint64_t place = 0, addend = 0;
    uint32_t symbol = 0, type = 0;
  };
  One at(size_t i) const {
    const Bytes entry = table_.subspan(i * entry_bytes(), entry_bytes());
    const uint64_t info = load(entry, word_, word_);
    One out = {load(entry, 0, word_), 0, static_cast<uint32_t>(info >> (word_ == 4 ? 8 : 32)),
               static_cast<uint32_t>(word_ == 4 ? info & 0xff : info)};
    if (has_addends_) out.addend = load(entry, size_t{2} * word_, word_);
    return out;
  }
  /// A search among all sections, where it does not stand in the relocation.
  uint64_t addend(const One& one) const { return has_addends_ ? one.addend : word_at(one.place); }
  std::string_view symbol(const One& one) const {
    const uint64_t bytes = word_ == 4 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
    if (one.symbol == 0 || (one.symbol + uint64_t{1}) * bytes > symbols_.size()) return {};
    return text_from(texts_, load(symbols_, one.symbol * bytes, 4));  // st_name is its head
  }

 private:
  size_t entry_bytes() const { return size_t{word_} * (has_addends_ ? 3 : 2); }
  /// What the file has there: without addends it stands where the sum will be.
  uint64_t word_at(uint64_t address) const {
    for (const ElfFile::Section& section : file_.sections())
      if (const uint64_t at = address - section.address;
          (section.flags & SHF_ALLOC) != 0 && at <= section.bytes.size() &&
          section.bytes.size() - at >= word_)
        return load(section.bytes, at, word_);
    return 0;
  }

  const ElfFile& file_;
  uint32_t word_;
  bool has_addends_;
  Bytes table_, symbols_, texts_;
};

std::string_view without_version(std::string_view symbol) {
  return symbol.substr(0, symbol.find('@', 1));
}

std::string_view without_ending(std::string_view library) {
  return library.substr(0, library.rfind('.'));
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

std::string ImportNames::Text::name(Demangler& demangler) const {
  const auto name = ended(name_);
  const auto library = without_ending(ended(library_).value_or(""));
  switch (kind_) {
    case Kind::None: return "";
    case Kind::Own: return demangler.written(without_version(name_)) + std::string(kPlt);
    case Kind::Elf:
      return name ? demangler.written(without_version(*name)) + std::string(kPlt) : "";
    case Kind::Pe: return name && !library.empty() ? fmt::format("{}!{}", library, *name) : "";
    case Kind::PeNumber: return library.empty() ? "" : fmt::format("{}!#{}", library, number_);
  }
  return "";
}

/// Reads no more of the texts than `name` has before they can be it.
bool ImportNames::Text::is(std::string_view name, Demangler& demangler) const {
  if (kind_ == Kind::None || name.empty()) return false;
  if (kind_ == Kind::Elf || kind_ == Kind::Own) {
    if (!name.ends_with(kPlt)) return false;
    const std::string_view symbol = name.substr(0, name.size() - kPlt.size());
    return (name_.starts_with("_Z") || name_.starts_with(symbol)) && this->name(demangler) == name;
  }
  const auto last = kind_ == Kind::Pe ? ended(name_.substr(0, name.size())) : name.substr(0, 0);
  if (!last || !name.ends_with(*last)) return false;
  const size_t before = kind_ == Kind::Pe ? name.size() - last->size() - 1 : name.rfind('!');
  return before < name.size() && library_.starts_with(name.substr(0, before)) &&
         this->name(demangler) == name;
}

void ImportNames::read(const ElfFile& file, const FunctionName& function_name) {
  if (!is_x86(file)) return;
  Slots slots;
  std::vector<Text> by_number;  // of the table of jumps
  int functions = kOwnFunctionsMax;
  for (const ElfFile::Section& section : file.sections()) {
    if (section.type != SHT_RELA && section.type != SHT_REL) continue;
    if ((section.flags & SHF_ALLOC) == 0) continue;
    const bool of_plt = section.name == ".rela.plt" || section.name == ".rel.plt";
    const Relocations all(file, section);
    for (size_t i = 0; i < all.count() && left_ > 0; ++i, --left_) {
      const auto one = all.at(i);
      const Filled filled = filled_by(file.machine(), one.type);
      Text text;
      if (const auto name = filled == Filled::WithSymbol ? all.symbol(one) : ""; begins(name))
        text = Text::of_elf(name);
      if (filled == Filled::WithFunction && functions-- > 0)
        if (const auto name = function_name(all.addend(one)); begins(name))
          text = Text::of_own(name);
      if (of_plt) by_number.push_back(text);
      if (!text.empty()) slots.try_emplace(one.place, text);
    }
  }
  const ElfFile::Section* got = file.find(".got.plt");
  if (got == nullptr) got = file.find(".got");
  const uint64_t got_address = got == nullptr ? 0 : got->address;
  for (const ElfFile::Section& section : file.sections())
    if ((section.name.starts_with(".plt") || section.name == ".iplt") &&
        (section.flags & SHF_EXECINSTR) != 0)
      read_plt(file, section, got_address, slots, by_number);
  index();
}

void ImportNames::read_plt(const ElfFile& file, const ElfFile::Section& section,
                           uint64_t got_address, const Slots& slots,
                           const std::vector<Text>& by_number) {
  const uint64_t stated = section.entry_bytes;
  const uint64_t entry = stated == 8 || stated == 16 || stated == 32 ? stated : kPltEntryBytes;
  for (uint64_t at = 0; at < section.bytes.size() && left_ > 0; at += entry, --left_) {
    const Bytes code = section.bytes.subspan(at, std::min(entry, section.bytes.size() - at));
    std::optional<Text> text;
    for (size_t i = 0; i < code.size() && !text; ++i)
      if (const auto word = word_of_jump(code, i, section.address + at, file.address_bytes(),
                                         got_address))
        if (const auto slot = slots.find(*word); slot != slots.end()) text = slot->second;
    const auto number = text ? std::nullopt : pushed_number(code, file.address_bytes());
    if (number && *number < by_number.size()) text = by_number[*number];
    if (text && !text->empty()) places_.push_back({section.address + at, code.size(), *text, true});
  }
}

void ImportNames::read(const PeFile& file, const Stop& stop) {
  Work work(UINT64_MAX, stop);
  constexpr size_t kEntry = 20, kDelayedEntry = 32;
  Slots slots;
  const auto library = [&](uint32_t rva) { return text_from(file.from(rva), 0); };
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
  for (const auto& [address, text] : slots)
    places_.push_back({address, file.address_bytes(), text, false});
  size_t left = file.file().size();  // sections may be stated to have the same bytes
  for (const PeFile::Section& section : file.sections()) {
    if (!section.code()) continue;
    const Bytes code = section.bytes.first(
        std::min({left, size_t{section.size}, section.bytes.size()}));
    left -= code.size();
    read_thunks(file, section, code, slots, work);
  }
  index();
}

/// A word for each: the address of a hint and a name or, with the highest bit, a number.
void ImportNames::read_table(const PeFile& file, std::string_view library, uint32_t names,
                             uint32_t words, Slots& slots) {
  const uint32_t word = file.address_bytes();
  const uint64_t by_number = uint64_t{1} << (8 * word - 1);
  const Bytes all = file.from(names);
  if (!begins(library) || library[0] == '.') return;
  for (size_t at = 0; at + word <= all.size() && left_ > 0; at += word, --left_) {
    const uint64_t value = load(all, at, word);
    if (value == 0) return;
    Text text = Text::of_pe(library, static_cast<uint16_t>(value));
    if ((value & by_number) == 0) {
      const auto name = text_from(file.from(static_cast<uint32_t>(value & INT32_MAX)), 2);
      if (!begins(name)) continue;
      text = Text::of_pe(library, name);
    }
    slots.try_emplace(file.image_base() + words + at, text);
  }
}

/// Jumps that compilers and linkers make for calls to what was not known to be another image's.
void ImportNames::read_thunks(const PeFile& file, const PeFile::Section& section, Bytes code,
                              const Slots& slots, Work& work) {
  if (slots.empty()) return;
  const uint64_t start = file.image_base() + section.rva;
  for (size_t at = 0; at + kJumpBytes <= code.size() && work.take(); ++at) {
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
