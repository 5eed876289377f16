// Makes small ELF files by hand, in either class and byte order, so that tests know every byte.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <elf.h>

#include "base/bytes.h"

namespace tracewell {

/// One loadable segment; its file bytes are `size` times the byte `fill`.
struct TestSegment {
  uint64_t address = 0;
  uint64_t size = 0;
  uint32_t flags = PF_R;
  uint8_t fill = 0;
};

/// Sections are numbered from 1, as they stand in TestElf::sections.
struct TestSection {
  std::string_view name;
  uint32_t type = SHT_PROGBITS;
  uint64_t flags = 0;
  uint64_t address = 0;
  std::vector<uint8_t> bytes = {};
  uint32_t link = 0;
  uint64_t entry_bytes = 0;
  uint64_t size = 0;  // when not 0, what the header says instead of bytes.size()
};

struct TestElf {
  bool is_64 = true;
  Endian endian = Endian::Little;
  uint16_t type = ET_DYN;
  uint16_t machine = EM_X86_64;
  uint64_t entry = 0x1010;
  std::vector<TestSegment> segments;
  std::vector<TestSection> sections;  // the table of their names is added
  std::string_view interpreter;  // "" = no PT_INTERP
  std::vector<uint8_t> build_id;
  uint64_t dynamic_flags_1 = 0;  // not 0: a PT_DYNAMIC with DT_FLAGS_1
  bool soname = false;           // a PT_DYNAMIC with DT_SONAME

  /// Headers first (a first segment at file offset 0 holds them), then each segment's bytes at an
  /// offset congruent to its address.
  std::vector<uint8_t> build() const;

 private:
  struct Header {
    uint32_t type;
    uint32_t flags;
    uint64_t offset, address, size;
  };
  void number(std::vector<uint8_t>& out, uint64_t value, size_t size) const {
    ByteWriter(out, endian).uint(value, size);
  }
  void file_header(std::vector<uint8_t>& out, size_t count) const;
  void program_header(std::vector<uint8_t>& out, const Header& header) const;
  void add_sections(std::vector<uint8_t>& out) const;
};

inline void TestElf::file_header(std::vector<uint8_t>& out, size_t count) const {
  const size_t word = is_64 ? 8 : 4;
  out = {0x7f, 'E', 'L', 'F', uint8_t(is_64 ? ELFCLASS64 : ELFCLASS32),
         uint8_t(endian == Endian::Big ? ELFDATA2MSB : ELFDATA2LSB), EV_CURRENT, 0};
  out.resize(EI_NIDENT);
  number(out, type, 2);
  number(out, machine, 2);
  number(out, EV_CURRENT, 4);
  number(out, entry, word);
  number(out, is_64 ? 64 : 52, word);  // program headers
  number(out, 0, word);                // section headers
  number(out, 0, 4);
  number(out, is_64 ? 64 : 52, 2);
  number(out, is_64 ? 56 : 32, 2);
  number(out, count, 2);
  number(out, is_64 ? 64 : 40, 2);
  number(out, 0, 2);
  number(out, 0, 2);
}

inline void TestElf::program_header(std::vector<uint8_t>& out, const Header& header) const {
  const size_t word = is_64 ? 8 : 4;
  number(out, header.type, 4);
  if (is_64) number(out, header.flags, 4);
  number(out, header.offset, word);
  number(out, header.address, word);
  number(out, header.address, word);
  number(out, header.size, word);
  number(out, header.size, word);
  if (!is_64) number(out, header.flags, 4);
  number(out, header.type == PT_LOAD ? 4096 : 1, word);
}

inline void TestElf::add_sections(std::vector<uint8_t>& out) const {
  const size_t word = is_64 ? 8 : 4;
  std::vector<TestSection> all = sections;
  all.push_back({".shstrtab", SHT_STRTAB, 0, 0, {0}});
  std::vector<uint64_t> names, offsets;
  for (const TestSection& section : all) {
    std::vector<uint8_t>& text = all.back().bytes;
    names.push_back(text.size());
    text.insert(text.end(), section.name.begin(), section.name.end());
    text.push_back(0);
  }
  for (const TestSection& section : all) {
    out.resize((out.size() + 7) / 8 * 8);
    offsets.push_back(out.size());
    out.insert(out.end(), section.bytes.begin(), section.bytes.end());
  }
  out.resize((out.size() + 7) / 8 * 8);
  store_uint(out.data() + (is_64 ? 0x28 : 0x20), out.size(), word, endian);
  store_uint(out.data() + (is_64 ? 0x3c : 0x30), all.size() + 1, 2, endian);
  store_uint(out.data() + (is_64 ? 0x3e : 0x32), all.size(), 2, endian);
  out.resize(out.size() + (is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)));
  for (size_t i = 0; i < all.size(); ++i) {
    const TestSection& section = all[i];
    number(out, names[i], 4);
    number(out, section.type, 4);
    for (uint64_t value : {section.flags, section.address, offsets[i],
                           section.size != 0 ? section.size : section.bytes.size()})
      number(out, value, word);
    number(out, section.link, 4);
    number(out, 0, 4);
    number(out, 1, word);
    number(out, section.entry_bytes, word);
  }
}

inline std::vector<uint8_t> TestElf::build() const {
  std::vector<Header> headers;
  std::vector<uint8_t> payload;
  const size_t count = segments.size() + !interpreter.empty() + !build_id.empty() +
                       (dynamic_flags_1 != 0 || soname);
  const size_t start = (is_64 ? 64 : 52) + count * (is_64 ? 56 : 32);
  auto put = [&](uint32_t kind, const std::vector<uint8_t>& bytes) {
    payload.resize((payload.size() + start + 7) / 8 * 8 - start);
    headers.push_back({kind, PF_R, start + payload.size(), start + payload.size(), bytes.size()});
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  };
  if (!interpreter.empty()) {
    std::vector<uint8_t> text(interpreter.begin(), interpreter.end());
    text.push_back(0);
    put(PT_INTERP, text);
  }
  if (!build_id.empty()) {
    std::vector<uint8_t> note;
    number(note, 4, 4);
    number(note, build_id.size(), 4);
    number(note, NT_GNU_BUILD_ID, 4);
    for (char c : {'G', 'N', 'U', '\0'}) note.push_back(uint8_t(c));
    note.insert(note.end(), build_id.begin(), build_id.end());
    put(PT_NOTE, note);
  }
  if (dynamic_flags_1 != 0 || soname) {
    std::vector<uint8_t> dynamic;
    const size_t word = is_64 ? 8 : 4;
    std::vector<uint64_t> entries;
    if (dynamic_flags_1 != 0) entries.insert(entries.end(), {DT_FLAGS_1, dynamic_flags_1});
    if (soname) entries.insert(entries.end(), {DT_SONAME, 1});
    entries.insert(entries.end(), {DT_NULL, 0});
    for (uint64_t value : entries) number(dynamic, value, word);
    put(PT_DYNAMIC, dynamic);
  }
  for (const TestSegment& segment : segments) {
    bool holds_headers = &segment == &segments.front();
    uint64_t offset = 0;
    if (!holds_headers) {
      const uint64_t at = start + payload.size();
      offset = at + (segment.address - at) % 4096;
      payload.resize(offset - start);
    }
    const uint64_t from = holds_headers ? start + payload.size() : offset;
    if (offset + segment.size > from)
      payload.resize(offset + segment.size - start, segment.fill);
    headers.push_back({PT_LOAD, segment.flags, offset, segment.address, segment.size});
  }
  std::vector<uint8_t> out;
  file_header(out, headers.size());
  for (const Header& header : headers) program_header(out, header);
  out.insert(out.end(), payload.begin(), payload.end());
  if (!sections.empty()) add_sections(out);
  return out;
}

/// A copy with an owner, as Image::parse wants it.
inline std::shared_ptr<std::vector<uint8_t>> shared_bytes(std::vector<uint8_t> bytes) {
  return std::make_shared<std::vector<uint8_t>>(std::move(bytes));
}

}  // namespace tracewell
