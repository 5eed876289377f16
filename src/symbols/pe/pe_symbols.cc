// The names in a PE file: those that it offers to others, and the COFF symbols that GNU and LLVM
// linkers leave in it. Programs for i386 have an underscore before each C name.
#include <algorithm>
#include <cstddef>

#include "symbols/names/symbol_table.h"
#include "symbols/pe/pe_file.h"

namespace tracewell::symbols {
namespace {

constexpr uint16_t kI386 = 0x14c;
// Linkers number exports by 16 bits. In a hole, each entry names the first one of all.
constexpr uint64_t kExportsMax = uint64_t{1} << 17;
constexpr uint8_t kExternal = 2, kStatic = 3, kLabel = 6, kWeak = 105;

uint32_t number(Bytes bytes, size_t offset, size_t size) {
  return static_cast<uint32_t>(load_uint(bytes.data() + offset, size, Endian::Little));
}

/// Of an array of `size` bytes a member, which may be cut.
uint64_t members(Bytes array, uint32_t count, size_t size) {
  return std::min<uint64_t>(count, array.size() / size);
}

}  // namespace

void SymbolTable::read(const PeFile& file, std::span<const VariableSize> sizes, const Stop& stop) {
  Work work(UINT64_MAX, stop);
  versions_ = false;
  strings_ = file.file();
  read_coff(file, work);
  whole_ = !symbols_.empty();
  read_exports(file, work);
  std::vector<Area> areas;
  for (const PeFile::Section& section : file.sections()) {
    const uint64_t start = file.image_base() + section.rva;
    areas.push_back({start, start + section.size, section.code()});
  }
  take_sizes(sizes, work);
  if (!index(areas, work)) *this = {};
}

/// Names stand by offsets in the file, of which PE has no more than 32 bits either.
void SymbolTable::add(const PeFile& file, Symbol symbol, uint32_t rva) {
  symbol.address = file.image_base() + rva;
  symbols_.push_back(symbol);
}

/// Three arrays: addresses, names in alphabetical order, and for each name the number of its
/// address. An "address" inside the directory is the text of another library's name.
void SymbolTable::read_exports(const PeFile& file, Work& work) {
  constexpr size_t kDirectoryBytes = 40;
  const PeFile::Place place = file.table(PeFile::Table::Exports);
  const auto directory = file.at(place.rva, kDirectoryBytes);
  if (place.size == 0 || !directory) return;
  const Bytes functions = file.from(number(*directory, 28, 4));
  const Bytes names = file.from(number(*directory, 32, 4));
  const Bytes numbers = file.from(number(*directory, 36, 4));
  const uint64_t function_count = members(functions, number(*directory, 20, 4), 4);
  const uint64_t count = std::min(members(names, number(*directory, 24, 4), 4),
                                  members(numbers, UINT32_MAX, 2));
  for (uint64_t i = 0; i < count && i < kExportsMax && work.take(); ++i) {
    const uint32_t which = number(numbers, 2 * i, 2);
    if (which >= function_count) continue;
    const uint32_t rva = number(functions, size_t{4} * which, 4);
    if (rva == 0 || (rva >= place.rva && rva - place.rva < place.size)) continue;
    const Bytes name = file.from(number(names, 4 * i, 4));
    const PeFile::Section* section = file.section_of(rva);
    if (name.empty() || section == nullptr) continue;
    const auto offset = static_cast<uint64_t>(name.data() - file.file().data());
    if (offset > UINT32_MAX) continue;
    add(file, {0, 0, static_cast<uint32_t>(offset), 0,
               section->code() ? Kind::Function : Kind::Object}, rva);
  }
}

void SymbolTable::read_coff(const PeFile& file, Work& work) {
  constexpr size_t kEntry = PeFile::kCoffSymbolBytes;
  const Bytes all = file.coff_symbols();
  const Bytes table = all.first(std::min(all.size(), kEntriesMax * kEntry));
  for (size_t at = 0; at + kEntry <= table.size() && work.take();) {
    const Bytes entry = table.subspan(at, kEntry);
    add_coff(file, entry);
    at += kEntry * (size_t{1} + entry[17]);  // further entries that describe this one
  }
}

/// Of 18 bytes: the name (eight bytes, or four zeros and where it stands), value, section, type,
/// class, number of further entries.
void SymbolTable::add_coff(const PeFile& file, Bytes entry) {
  const uint32_t value = number(entry, 8, 4), section_number = number(entry, 12, 2);
  const uint8_t storage = entry[16];
  if (storage != kExternal && storage != kStatic && storage != kLabel && storage != kWeak) return;
  // 0 = not defined here; absolute values and such count down from 65535.
  if (section_number == 0 || section_number > file.sections().size()) return;
  const PeFile::Section& section = file.sections()[section_number - 1];
  if (value >= section.size) return;
  const bool is_long = number(entry, 0, 4) == 0;
  uint64_t name = static_cast<uint64_t>(entry.data() - file.file().data());
  uint8_t name_bytes = 8;
  if (is_long) {
    const uint32_t offset = number(entry, 4, 4);
    if (offset < 4 || offset >= file.coff_texts().size()) return;
    name = static_cast<uint64_t>(file.coff_texts().data() - file.file().data()) + offset;
    name_bytes = 0;
  }
  if (name > UINT32_MAX) return;
  const uint8_t first = file.file()[name];
  if (first == '.' && storage == kStatic) return;  // a section
  if (first == '_' && file.machine() == kI386) {
    ++name;
    if (!is_long) --name_bytes;
  }
  const bool function = number(entry, 14, 2) >> 4 == 2;
  const Kind kind = !section.code() ? Kind::Object : function ? Kind::Function : Kind::Label;
  const uint8_t rank = storage == kExternal ? 0 : storage == kStatic ? 1 : 2;
  add(file, {0, 0, static_cast<uint32_t>(name), rank, kind, name_bytes}, section.rva + value);
}

}  // namespace tracewell::symbols
