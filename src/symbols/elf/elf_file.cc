#include "symbols/elf/elf_file.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "symbols/elf/elf_headers.h"
#include "symbols/elf/notes.h"
#include "symbols/image.h"

namespace tracewell::symbols {
namespace {

constexpr size_t kSectionNameMax = 64;

::Elf* open_elf(std::vector<uint8_t>& bytes) {
  static std::once_flag once;
  std::call_once(once, [] { elf_version(EV_CURRENT); });
  return elf_memory(reinterpret_cast<char*>(bytes.data()), bytes.size());
}

/// An ELF file with one section: `bytes`, compressed.
std::vector<uint8_t> file_of_one_section(Bytes bytes, uint32_t address_bytes, Endian endian) {
  const bool is_64 = address_bytes == 8;
  const uint64_t header_bytes = is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  const uint64_t section_bytes = is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  std::vector<uint8_t> out = {0x7f, 'E', 'L', 'F', uint8_t(is_64 ? ELFCLASS64 : ELFCLASS32),
                              uint8_t(endian == Endian::Big ? ELFDATA2MSB : ELFDATA2LSB),
                              EV_CURRENT};
  out.resize(EI_NIDENT);
  ByteWriter writer(out, endian);
  const auto word = [&](uint64_t value) { writer.uint(value, address_bytes); };
  writer.uint(ET_DYN, 2);
  writer.uint(EM_NONE, 2);
  writer.uint(EV_CURRENT, 4);
  for (const uint64_t value : {uint64_t{0}, uint64_t{0}, header_bytes}) word(value);
  writer.uint(0, 4);
  for (const uint64_t value : {header_bytes, uint64_t{0}, uint64_t{0}, section_bytes,
                               uint64_t{2}, uint64_t{0}})
    writer.uint(value, 2);
  out.resize(header_bytes + section_bytes);  // section 0 is all zeros
  writer.uint(0, 4);
  writer.uint(SHT_PROGBITS, 4);
  for (const uint64_t value : {uint64_t{SHF_COMPRESSED}, uint64_t{0},
                               header_bytes + 2 * section_bytes, uint64_t{bytes.size()}})
    word(value);
  writer.uint(0, 8);
  word(1);
  word(0);
  writer.bytes(bytes);
  return out;
}

class UnfoldedSection {
 public:
  UnfoldedSection(Bytes bytes, uint32_t address_bytes, Endian endian)
      : file_(file_of_one_section(bytes, address_bytes, endian)), elf_(open_elf(file_)) {}
  UnfoldedSection(const UnfoldedSection&) = delete;
  UnfoldedSection& operator=(const UnfoldedSection&) = delete;
  ~UnfoldedSection() {
    if (elf_ != nullptr) elf_end(elf_);
  }

  /// Empty when that is nothing, damaged, or more than `most` bytes.
  Bytes unfold(uint64_t most) {
    Elf_Scn* const one = elf_ == nullptr ? nullptr : elf_getscn(elf_, 1);
    GElf_Chdr header;
    // libelf itself refuses sizes that no compression could have come from.
    if (one == nullptr || gelf_getchdr(one, &header) == nullptr || header.ch_size > most ||
        elf_compress(one, 0, 0) != 1)
      return {};
    const Elf_Data* const data = elf_rawdata(one, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size > most) return {};
    return {static_cast<const uint8_t*>(data->d_buf), data->d_size};
  }

 private:
  std::vector<uint8_t> file_;
  ::Elf* elf_;
};

}  // namespace

std::optional<std::string_view> text_at(Bytes strings, uint64_t offset, size_t length_max) {
  if (offset >= strings.size()) return std::nullopt;
  const std::string_view rest = as_text(strings.subspan(offset)).substr(0, length_max + 1);
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

ElfFile::ElfFile(Bytes bytes)
    : bytes_(bytes),
      room_(std::min(kUnfoldedMax, kUnfoldedFree + kUnfoldedEach * bytes.size())) {
  const auto headers = ElfHeaders::read(bytes);
  if (!headers) return;
  endian_ = headers->endian();
  address_bytes_ = headers->address_bytes();
  machine_ = headers->machine();
  read_sections(*headers);
}

void ElfFile::read_sections(const ElfHeaders& headers) {
  if (headers.sections() > Image::kHeadersMax) return;
  std::vector<uint32_t> names;
  for (size_t i = 0; i < headers.sections(); ++i) {
    const ElfSectionHeader one = headers.section(i);
    Section section;
    section.type = one.type;
    section.link = one.link;
    section.flags = one.flags;
    section.address = one.address;
    section.size = one.bytes;
    section.offset = one.offset;
    section.entry_bytes = one.entry_bytes;
    if (section.type != SHT_NOBITS && section.offset <= bytes_.size() &&
        section.size <= bytes_.size() - section.offset)
      section.bytes = bytes_.subspan(section.offset, section.size);
    names.push_back(one.name);
    sections_.push_back(section);
  }
  const uint64_t of_names = headers.names_section();
  if (of_names >= sections_.size()) return;
  for (size_t i = 0; i < sections_.size(); ++i)
    sections_[i].name =
        text_at(sections_[of_names].bytes, names[i], kSectionNameMax).value_or(std::string_view());
}

const ElfFile::Section* ElfFile::find(std::string_view name) const {
  const auto at = std::find_if(sections_.begin(), sections_.end(),
                               [&](const Section& one) { return one.name == name; });
  return at == sections_.end() ? nullptr : &*at;
}

const ElfFile::Section* ElfFile::find(uint32_t type) const {
  const auto at = std::find_if(sections_.begin(), sections_.end(),
                               [&](const Section& one) { return one.type == type; });
  return at == sections_.end() ? nullptr : &*at;
}

/// libelf unfolds a section in place: it writes to the section header, which is in the caller's
/// memory, and that is a file mapped read-only, which others may write to. So it gets a file with a
/// copy of this section alone, which stays open: a copy of what it has unfolded would be as large
/// again.
Bytes ElfFile::contents(const Section& section, std::shared_ptr<const void>& owner) {
  if ((section.flags & SHF_COMPRESSED) == 0) return section.bytes;
  if (section.bytes.size() > room_) return {};  // holes, in a large file
  const auto unfolded =
      std::make_shared<UnfoldedSection>(section.bytes, address_bytes_, endian_);
  const Bytes bytes = unfolded->unfold(room_);
  room_ -= bytes.size();
  if (!bytes.empty()) owner = unfolded;
  return bytes;
}

std::string ElfFile::build_id() const {
  const auto headers = ElfHeaders::read(bytes_);
  return headers ? gnu_build_id(*headers, bytes_) : "";
}

}  // namespace tracewell::symbols
