// Makes small PE files by hand, PE32 and PE32+, so that tests know every byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace tracewell {

struct TestPe {
  static constexpr uint32_t kText = 0x60000020, kReadOnly = 0x40000040, kData = 0xc0000040;
  static constexpr uint32_t kSector = 512;
  enum : uint32_t { kExports = 0, kRelocations = 5, kDebug = 6, kLoadConfig = 10, kImports = 12 };

  struct Section {
    std::string_view name;
    uint32_t rva = 0;
    uint32_t flags = kReadOnly;
    std::vector<uint8_t> bytes;
    uint32_t virtual_size = 0;  // 0 = as many as there are bytes
  };
  struct Symbol {
    std::string name;
    uint32_t value = 0;
    uint16_t section = 1;
    uint8_t storage = 2;
    bool function = true;
    uint8_t further = 0;  // entries
  };
  struct Export {
    std::string name;
    uint32_t rva = 0;
  };
  struct Relocation {
    uint32_t rva = 0;
    uint16_t type = 10;
  };
  bool is_64 = true;
  uint64_t image_base = 0x140000000;
  uint16_t flags = 0x22;  // a program; more than 2 GiB; relocations are not stripped
  uint32_t entry = 0x1000;
  std::vector<Section> sections;
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> tables;  // rva, size
  std::vector<Symbol> symbols;

  /// Sections that hold these tables; they are the next ones, and `tables` names them.
  void add_exports(const std::vector<Export>& exports);
  void add_relocations(const std::vector<Relocation>& relocations);
  std::vector<uint8_t> build() const;
  uint32_t next_rva() const;

 private:
  static void number(std::vector<uint8_t>& out, uint64_t value, size_t size) {
    ByteWriter(out, Endian::Little).uint(value, size);
  }
  static void pad(std::vector<uint8_t>& out) {
    out.resize((out.size() + kSector - 1) / kSector * kSector);
  }
  static uint32_t size_of(const Section& section) {
    return section.virtual_size != 0 ? section.virtual_size : uint32_t(section.bytes.size());
  }
  void optional_header(std::vector<uint8_t>& out) const;
  std::vector<uint8_t> coff() const;
};

inline uint32_t TestPe::next_rva() const {
  if (sections.empty()) return 0x1000;
  return (sections.back().rva + size_of(sections.back()) + 0xfff) / 0x1000 * 0x1000;
}

inline void TestPe::add_exports(const std::vector<Export>& exports) {
  const uint32_t rva = next_rva();
  const auto count = static_cast<uint32_t>(exports.size());
  const uint32_t functions = rva + 40, names = functions + 4 * count, numbers = names + 4 * count;
  std::vector<uint8_t> out(20), texts;
  for (uint32_t value : {count, count, functions, names, numbers}) number(out, value, 4);
  for (const Export& one : exports) number(out, one.rva, 4);
  for (const Export& one : exports) {
    number(out, numbers + 2 * count + texts.size(), 4);
    texts.insert(texts.end(), one.name.begin(), one.name.end());
    texts.push_back(0);
  }
  for (uint32_t i = 0; i < count; ++i) number(out, i, 2);
  out.insert(out.end(), texts.begin(), texts.end());
  tables[kExports] = {rva, uint32_t(out.size())};
  sections.push_back({".edata", rva, kReadOnly, std::move(out)});
}

inline void TestPe::add_relocations(const std::vector<Relocation>& relocations) {
  const uint32_t rva = next_rva();
  std::vector<uint8_t> out;
  for (const Relocation& one : relocations) {  // a block each, filled up to whole words
    number(out, one.rva & ~0xfffu, 4);
    number(out, 12, 4);
    number(out, (one.rva & 0xfff) | uint32_t{one.type} << 12, 2);
    number(out, 0, 2);
  }
  tables[kRelocations] = {rva, uint32_t(out.size())};
  sections.push_back({".reloc", rva, kReadOnly, std::move(out)});
}

inline void TestPe::optional_header(std::vector<uint8_t>& out) const {
  const size_t word = is_64 ? 8 : 4;
  number(out, is_64 ? 0x20b : 0x10b, 2);
  out.resize(out.size() + 14);
  number(out, entry, 4);
  number(out, 0x1000, 4);
  if (!is_64) number(out, 0x2000, 4);
  number(out, image_base, word);
  number(out, 0x1000, 4);
  number(out, kSector, 4);
  for (uint64_t version : {6, 0, 6}) number(out, version, 4);
  number(out, 0, 4);
  number(out, next_rva(), 4);
  number(out, kSector * 2, 4);
  number(out, 0, 4);
  number(out, 3, 2);
  number(out, 0, 2);
  for (int i = 0; i < 4; ++i) number(out, 0x1000, word);
  number(out, 0, 4);
  number(out, 16, 4);
  for (uint32_t i = 0; i < 16; ++i) {
    const auto table = tables.find(i);
    number(out, table == tables.end() ? 0 : table->second.first, 4);
    number(out, table == tables.end() ? 0 : table->second.second, 4);
  }
}

inline std::vector<uint8_t> TestPe::coff() const {
  std::vector<uint8_t> out, texts;
  for (const Symbol& symbol : symbols) {
    if (symbol.name.size() <= 8) {
      std::string name = symbol.name;
      name.resize(8);
      out.insert(out.end(), name.begin(), name.end());
    } else {
      number(out, 0, 4);
      number(out, 4 + texts.size(), 4);
      texts.insert(texts.end(), symbol.name.begin(), symbol.name.end());
      texts.push_back(0);
    }
    number(out, symbol.value, 4);
    number(out, symbol.section, 2);
    number(out, symbol.function ? 0x20 : 0, 2);
    out.push_back(symbol.storage);
    out.push_back(symbol.further);
    out.resize(out.size() + 18 * size_t{symbol.further}, 0xee);
  }
  number(out, 4 + texts.size(), 4);
  out.insert(out.end(), texts.begin(), texts.end());
  return out;
}

inline std::vector<uint8_t> TestPe::build() const {
  std::vector<uint8_t> out = {'M', 'Z'};
  out.resize(0x3c);
  number(out, 0x80, 4);
  out.resize(0x80);
  for (char c : {'P', 'E', '\0', '\0'}) out.push_back(uint8_t(c));
  number(out, is_64 ? 0x8664 : 0x14c, 2);
  number(out, sections.size(), 2);
  number(out, 0, 4);
  const size_t symbols_at = out.size();
  number(out, 0, 8);
  number(out, is_64 ? 240 : 224, 2);
  number(out, flags, 2);
  optional_header(out);
  std::vector<uint8_t> payload;
  for (const Section& section : sections) {
    std::string name(section.name);
    name.resize(8);
    out.insert(out.end(), name.begin(), name.end());
    pad(payload);
    const auto raw = uint32_t(section.bytes.size() + kSector - 1) / kSector * kSector;
    for (uint32_t value : {size_of(section), section.rva, raw,
                           raw == 0 ? 0 : 2 * kSector + uint32_t(payload.size())})
      number(out, value, 4);
    out.resize(out.size() + 12);  // relocations and lines of object files
    number(out, section.flags, 4);
    payload.insert(payload.end(), section.bytes.begin(), section.bytes.end());
  }
  out.resize(2 * kSector);
  pad(payload);
  out.insert(out.end(), payload.begin(), payload.end());
  if (symbols.empty()) return out;
  size_t count = 0;
  for (const Symbol& symbol : symbols) count += 1 + symbol.further;
  store_uint(out.data() + symbols_at, out.size(), 4, Endian::Little);
  store_uint(out.data() + symbols_at + 4, count, 4, Endian::Little);
  const std::vector<uint8_t> names = coff();
  out.insert(out.end(), names.begin(), names.end());
  return out;
}

}  // namespace tracewell
