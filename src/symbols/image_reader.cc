// ELF through elfutils, from memory: the file is mapped once, by base/file.h, which survives a file
// that shrinks. Addresses, offsets and counts are checked here; libelf decodes classes and byte
// orders.
#include "symbols/image_reader.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "symbols/notes.h"

namespace tracewell::symbols {
namespace {

Error corrupt(std::string text) { return {Errc::Corrupt, std::move(text), {}}; }

Error elf_error(const char* what) {
  const char* why = elf_errmsg(-1);
  return corrupt(fmt::format("{}: {}", what, why != nullptr ? why : "unknown"));
}

/// False when `start + size` does not fit the address space of this class.
bool fits(uint64_t start, uint64_t size, uint32_t address_bytes) {
  const uint64_t last = address_bytes == 4 ? UINT32_MAX : UINT64_MAX;
  return start <= last && size <= last - start;
}

}  // namespace

ImageReader::~ImageReader() {
  if (elf_ != nullptr) elf_end(elf_);
}

Status ImageReader::read() {
  static std::once_flag once;
  std::call_once(once, [] { elf_version(EV_CURRENT); });
  if (bytes_.size() < 4 || std::memcmp(bytes_.data(), "\177ELF", 4) != 0)
    return {Errc::Unsupported, "neither an ELF nor a PE file"};
  // libelf takes a pointer to mutable memory but, opened for reading, never writes through it.
  elf_ = elf_memory(reinterpret_cast<char*>(const_cast<uint8_t*>(bytes_.data())), bytes_.size());
  if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF) return elf_error("not a readable ELF file");
  TW_RETURN_IF_ERROR(read_header());
  TW_RETURN_IF_ERROR(read_segments());
  TW_RETURN_IF_ERROR(read_sections());
  merge_ranges();
  image_.facts_.build_id = gnu_build_id(elf_, bytes_);
  return {};
}

Status ImageReader::read_header() {
  GElf_Ehdr header;
  if (gelf_getehdr(elf_, &header) == nullptr) return elf_error("no ELF header");
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return {Errc::Unsupported, "neither a program nor a shared library"};
  ImageFacts& facts = image_.facts_;
  facts.address_bytes = gelf_getclass(elf_) == ELFCLASS32 ? 4 : 8;
  facts.endian = header.e_ident[EI_DATA] == ELFDATA2MSB ? Endian::Big : Endian::Little;
  facts.machine = header.e_machine;
  facts.relocatable = header.e_type == ET_DYN;
  facts.program = header.e_type == ET_EXEC;
  facts.entry = header.e_entry;
  facts.program_header_bytes = header.e_phentsize;
  return {};
}

Result<Bytes> ImageReader::file_range(uint64_t offset, uint64_t size, const char* what) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset)
    return Error{Errc::Corrupt, fmt::format("{} reaches beyond the end of the file", what), offset};
  return bytes_.subspan(offset, size);
}

Status ImageReader::read_segments() {
  size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0) return elf_error("program headers");
  if (count > Image::kHeadersMax) return {Errc::Limit, "too many program headers"};
  image_.facts_.program_header_count = static_cast<uint32_t>(count);
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr)
      return elf_error("program headers");
    if (header.p_type == PT_LOAD)
      TW_RETURN_IF_ERROR(add_load(header.p_vaddr, header.p_offset, header.p_filesz, header.p_memsz,
                                  header.p_align, (header.p_flags & PF_W) != 0));
    if (header.p_type == PT_INTERP)
      TW_RETURN_IF_ERROR(read_interpreter(header.p_offset, header.p_filesz));
    if (header.p_type == PT_DYNAMIC && !image_.facts_.dynamic) {
      image_.facts_.dynamic = header.p_vaddr;
      read_dynamic_flags(header.p_offset, header.p_filesz);
    }
    if (header.p_type == PT_PHDR) image_.facts_.program_headers = header.p_vaddr;
  }
  if (!any_load_) return corrupt("no loadable segment");
  ImageFacts& facts = image_.facts_;
  facts.span_bytes = highest_ - facts.link_base;
  // A PIE without an interpreter is linked statically; a library with one (libc) can be run, too,
  // but has a name for others to find it by. Linkers before 2016 did not set the flag.
  facts.program |= pie_flag_ || (!facts.interpreter.empty() && !has_soname_);
  GElf_Ehdr header;
  if (!facts.program_headers && gelf_getehdr(elf_, &header) != nullptr)
    find_program_headers(header.e_phoff);
  return {};
}

Status ImageReader::add_load(uint64_t address, uint64_t offset, uint64_t file_size,
                             uint64_t memory_size, uint64_t alignment, bool writable) {
  ImageFacts& facts = image_.facts_;
  if (!fits(address, std::max(memory_size, file_size), facts.address_bytes))
    return corrupt("a segment reaches beyond the end of the address space");
  TW_ASSIGN_OR_RETURN(const Bytes bytes, file_range(offset, file_size, "a segment"));
  // The kernel maps whole pages, so the load address that people see is the rounded one. Alignments
  // may be larger than a page (2 MiB on old x86-64 linkers); the mapping begins at the page.
  const uint64_t page = std::clamp<uint64_t>(alignment, 1, 4096);
  const uint64_t start = (page & (page - 1)) == 0 ? address & ~(page - 1) : address;
  facts.link_base = any_load_ ? std::min(facts.link_base, start) : start;
  highest_ = std::max(highest_, address + memory_size);
  any_load_ = true;
  loads_.push_back({address, offset, file_size});
  if (!writable && !bytes.empty()) found_.push_back({address, bytes});
  return {};
}

Status ImageReader::read_interpreter(uint64_t offset, uint64_t size) {
  TW_ASSIGN_OR_RETURN(const Bytes bytes, file_range(offset, size, "the interpreter's name"));
  const std::string_view text = as_text(bytes);
  image_.facts_.interpreter = text.substr(0, std::min(text.find('\0'), text.size()));
  return {};
}

void ImageReader::read_dynamic_flags(uint64_t offset, uint64_t size) {
  if (!file_range(offset, size, "the dynamic section")) return;
  Elf_Data* data = elf_getdata_rawchunk(elf_, static_cast<int64_t>(offset), size, ELF_T_DYN);
  if (data == nullptr) return;
  const size_t one = gelf_fsize(elf_, ELF_T_DYN, 1, EV_CURRENT);
  const size_t count = one == 0 ? 0 : std::min<size_t>(data->d_size / one, Image::kHeadersMax);
  for (size_t i = 0; i < count; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag == DT_NULL) return;
    if (entry.d_tag == DT_FLAGS_1) pie_flag_ = (entry.d_un.d_val & DF_1_PIE) != 0;
    if (entry.d_tag == DT_SONAME) has_soname_ = true;
  }
}

/// Section headers may be stripped or nonsense; then there is only less to read.
Status ImageReader::read_sections() {
  size_t count = 0;
  if (elf_getshdrnum(elf_, &count) != 0) return {};
  if (count > Image::kHeadersMax) return {Errc::Limit, "too many sections"};
  for (size_t i = 1; i < count; ++i) {
    GElf_Shdr header;
    Elf_Scn* section = elf_getscn(elf_, i);
    if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return {};
    const bool loaded = (header.sh_flags & SHF_ALLOC) != 0 && header.sh_type != SHT_NOBITS;
    if (!loaded || (header.sh_flags & SHF_WRITE) != 0 || header.sh_size == 0) continue;
    if (!fits(header.sh_addr, header.sh_size, image_.facts_.address_bytes)) continue;
    auto bytes = file_range(header.sh_offset, header.sh_size, "a section");
    if (bytes) found_.push_back({header.sh_addr, *bytes});
  }
  return {};
}

/// Where the loader puts the program headers when no PT_PHDR says it: in the segment that holds
/// that part of the file.
void ImageReader::find_program_headers(uint64_t file_offset) {
  for (const Load& load : loads_) {
    if (file_offset < load.offset || file_offset - load.offset >= load.file_size) continue;
    image_.facts_.program_headers = load.address + (file_offset - load.offset);
    return;
  }
}

/// Sorted and without overlaps. Where two want the same address the one that begins first wins:
/// sections inside a segment vanish in it.
void ImageReader::merge_ranges() {
  std::stable_sort(found_.begin(), found_.end(), [](const ImageRange& a, const ImageRange& b) {
    return a.address < b.address;
  });
  std::vector<ImageRange>& out = image_.read_only_;
  for (ImageRange range : found_) {
    if (!out.empty() && range.address < out.back().end()) {
      const uint64_t overlap = out.back().end() - range.address;
      if (overlap >= range.bytes.size()) continue;
      range.address += overlap;
      range.bytes = range.bytes.subspan(overlap);
    }
    out.push_back(range);
  }
}

}  // namespace tracewell::symbols
