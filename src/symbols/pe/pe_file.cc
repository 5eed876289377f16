// What is odd about PE: it begins with a program for DOS; a section's size in memory and that in
// the file are two numbers, neither of which bounds the other; the loader rounds a section's place
// in the file down to 512 bytes, whatever the header says; and names of more than eight characters
// stand behind the COFF symbols ("/123"), which only GNU and LLVM linkers still write.
#include "symbols/pe/pe_file.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "symbols/elf/elf_file.h"

namespace tracewell::symbols {
namespace {

constexpr size_t kDosHeaderBytes = 64, kFileHeaderBytes = 20, kSectionHeaderBytes = 40;
constexpr uint32_t kPePageBytes = 4096, kSectorBytes = 512;
constexpr uint16_t kRelocationsStripped = 0x1, kExecutableImage = 0x2, kLibrary = 0x2000;
constexpr size_t kPeSectionNameMax = 64;

uint64_t field(Bytes header, size_t offset, size_t size) {
  return load_uint(header.data() + offset, size, Endian::Little);
}
uint32_t word(Bytes header, size_t offset) {
  return static_cast<uint32_t>(field(header, offset, 4));
}
uint16_t half(Bytes header, size_t offset) {
  return static_cast<uint16_t>(field(header, offset, 2));
}

Error cut(const char* what, uint64_t offset) {
  return {Errc::Corrupt, fmt::format("{} reaches beyond the end of the file", what), offset};
}

Result<Bytes> piece(Bytes bytes, uint64_t offset, uint64_t size, const char* what) {
  if (offset > bytes.size() || size > bytes.size() - offset) return cut(what, offset);
  return bytes.subspan(offset, size);
}

uint64_t rounded_up(uint64_t size, uint64_t unit) { return (size + unit - 1) / unit * unit; }

/// A text of eight bytes, which ends before the first NUL or with the eighth.
std::string_view short_text(Bytes eight) {
  const std::string_view text = as_text(eight);
  return text.substr(0, std::min(text.find('\0'), text.size()));
}

}  // namespace

bool PeFile::has_magic(Bytes bytes) {
  return bytes.size() >= 2 && bytes[0] == 'M' && bytes[1] == 'Z';
}

Result<PeFile> PeFile::parse(Bytes bytes) {
  PeFile file(bytes);
  TW_RETURN_IF_ERROR(file.read_headers());
  return file;
}

Status PeFile::read_headers() {
  TW_ASSIGN_OR_RETURN(const Bytes dos, piece(bytes_, 0, kDosHeaderBytes, "the DOS header"));
  const uint32_t start = word(dos, 0x3c);
  const auto magic = piece(bytes_, start, 4, "the PE header");
  if (!magic || word(*magic, 0) != 0x4550)  // "PE\0\0"
    return {Errc::Unsupported, "a DOS or 16-bit program, not a PE file"};
  uint64_t at = uint64_t{start} + 4;
  TW_ASSIGN_OR_RETURN(const Bytes header, piece(bytes_, at, kFileHeaderBytes, "the PE header"));
  machine_ = half(header, 0);
  const uint16_t flags = half(header, 18);
  if ((flags & kExecutableImage) == 0)
    return {Errc::Unsupported, "neither a program nor a library"};
  library_ = (flags & kLibrary) != 0;
  movable_ = (flags & kRelocationsStripped) == 0;
  at += kFileHeaderBytes;
  const uint16_t optional_bytes = half(header, 16);
  TW_ASSIGN_OR_RETURN(const Bytes optional,
                      piece(bytes_, at, optional_bytes, "the optional header"));
  TW_RETURN_IF_ERROR(read_optional_header(optional));
  read_coff_symbols(word(header, 8), word(header, 12));
  at += optional_bytes;
  const size_t count = half(header, 2);
  TW_ASSIGN_OR_RETURN(const Bytes table,
                      piece(bytes_, at, count * kSectionHeaderBytes, "the section table"));
  for (size_t i = 0; i < count; ++i)
    TW_RETURN_IF_ERROR(
        read_section(table.subspan(i * kSectionHeaderBytes, kSectionHeaderBytes)));
  return {};
}

Status PeFile::read_optional_header(Bytes header) {
  const uint16_t magic = header.size() < 2 ? 0 : half(header, 0);
  if (magic != 0x10b && magic != 0x20b)
    return {Errc::Unsupported, fmt::format("neither PE32 nor PE32+ (magic 0x{:x})", magic)};
  address_bytes_ = magic == 0x20b ? 8 : 4;
  const size_t tables = address_bytes_ == 8 ? 112 : 96;
  if (header.size() < tables)
    return Error{Errc::Corrupt, fmt::format("an optional header of {} bytes", header.size()), {}};
  entry_ = word(header, 16);
  image_base_ = address_bytes_ == 8 ? field(header, 24, 8) : word(header, 28);
  file_alignment_ = word(header, 36);
  size_of_image_ = rounded_up(word(header, 56), kPePageBytes);
  headers_ = bytes_.first(std::min<uint64_t>(word(header, 60), bytes_.size()));
  const uint64_t last = address_bytes_ == 8 ? UINT64_MAX : UINT32_MAX;
  if (image_base_ % kPePageBytes != 0 || size_of_image_ > last - image_base_)
    return Error{Errc::Corrupt, fmt::format("{} bytes at 0x{:x} cannot be mapped", size_of_image_,
                                            image_base_), {}};
  const size_t count = std::min<size_t>(word(header, tables - 4), tables_.size());
  for (size_t i = 0; i < count && tables + 8 * i + 8 <= header.size(); ++i)
    tables_[i] = {word(header, tables + 8 * i), word(header, tables + 8 * i + 4)};
  return {};
}

/// Debuggers alone read them, so damage here costs no more than themselves.
void PeFile::read_coff_symbols(uint32_t offset, uint32_t count) {
  if (offset == 0 || offset > bytes_.size()) return;
  const Bytes rest = bytes_.subspan(offset);
  coff_symbols_ = rest.first(std::min<uint64_t>(count, rest.size() / kCoffSymbolBytes) *
                             kCoffSymbolBytes);
  const Bytes behind = rest.subspan(coff_symbols_.size());
  // The size comes first and counts itself.
  if (behind.size() >= 4) coff_texts_ = behind.first(std::min<size_t>(word(behind, 0),
                                                                      behind.size()));
}

Status PeFile::read_section(Bytes header) {
  Section section;
  section.name = short_text(header.first(8));
  if (section.name.starts_with('/'))
    if (const auto offset = parse_number(section.name.substr(1)))
      section.name = text_at(coff_texts_, *offset, kPeSectionNameMax).value_or(section.name);
  const uint32_t virtual_size = word(header, 8), raw_size = word(header, 16);
  uint32_t offset = word(header, 20);
  section.rva = word(header, 12);
  section.size = virtual_size != 0 ? virtual_size : raw_size;
  section.flags = word(header, 36);
  if (uint64_t{section.rva} + section.size > size_of_image_ || section.rva < end_)
    return Error{Errc::Corrupt,
                 fmt::format("section {} overlaps others or lies outside of the image",
                             printable(section.name)), {}};
  if (file_alignment_ >= kSectorBytes) offset -= offset % kSectorBytes;
  // Whole pages are mapped, so what the file has behind the section's end is seen, too.
  const uint64_t mapped = std::min({uint64_t{raw_size}, rounded_up(section.size, kPePageBytes),
                                    size_of_image_ - section.rva});
  if (offset != 0 && mapped != 0) {
    // The padding of the last one may have been left out.
    const uint64_t there = bytes_.size() - std::min<uint64_t>(offset, bytes_.size());
    const bool padding = there < mapped && mapped - there < kSectorBytes;
    TW_ASSIGN_OR_RETURN(section.bytes,
                        piece(bytes_, offset, padding ? there : mapped, "a section"));
  }
  if (sections_.empty()) headers_ = headers_.first(std::min<size_t>(headers_.size(), section.rva));
  end_ = section.rva + std::max<uint64_t>(section.size, section.bytes.size());
  sections_.push_back(section);
  return {};
}

const PeFile::Section* PeFile::find(std::string_view name) const {
  const auto at = std::find_if(sections_.begin(), sections_.end(),
                               [&](const Section& one) { return one.name == name; });
  return at == sections_.end() ? nullptr : &*at;
}

PeFile::Place PeFile::table(Table which) const { return tables_[static_cast<size_t>(which)]; }

const PeFile::Section* PeFile::section_of(uint32_t rva) const {
  auto next = std::upper_bound(sections_.begin(), sections_.end(), rva,
                               [](uint32_t at, const Section& one) { return at < one.rva; });
  if (next == sections_.begin()) return nullptr;
  --next;
  return rva - next->rva < std::max<uint64_t>(next->size, next->bytes.size()) ? &*next : nullptr;
}

Bytes PeFile::from(uint32_t rva) const {
  if (const Section* section = section_of(rva))
    return section->bytes.subspan(std::min<size_t>(rva - section->rva, section->bytes.size()));
  return rva < headers_.size() ? headers_.subspan(rva) : Bytes();
}

std::optional<Bytes> PeFile::at(uint32_t rva, uint64_t size) const {
  const Bytes found = from(rva);
  if (size > found.size()) return std::nullopt;
  return found.first(size);
}

/// The debug directory: entries of 28 bytes, of which type 2 is CodeView's; its newer form begins
/// with "RSDS".
/// From the identity on: 16 bytes, the age, and the debug file's name. Empty when there is none.
Bytes PeFile::debug_record() const {
  constexpr size_t kEntryBytes = 28, kIdBytes = 20;
  const Place place = table(Table::Debug);
  Bytes entries = from(place.rva);
  entries = entries.first(std::min<size_t>(place.size, entries.size()));
  for (; entries.size() >= kEntryBytes; entries = entries.subspan(kEntryBytes)) {
    if (word(entries, 12) != 2) continue;
    const auto record = at(word(entries, 20), std::max<uint64_t>(word(entries, 16), 4 + kIdBytes));
    const auto least = record ? record : at(word(entries, 20), 4 + kIdBytes);
    if (least && as_text(least->first(4)) == "RSDS") return least->subspan(4);
  }
  return {};
}

std::string PeFile::build_id() const {
  const Bytes record = debug_record();
  return to_hex(record.first(std::min<size_t>(20, record.size())));
}

std::string PeFile::debug_file() const {
  const Bytes record = debug_record();
  const std::string_view name = as_text(record.subspan(std::min<size_t>(20, record.size())));
  return std::string(name.substr(0, name.find('\0')));
}

}  // namespace tracewell::symbols
