// ELF from memory: the file is mapped once, by base/files/file.h, which survives a file that
// shrinks. Addresses, offsets and counts are checked here.
#include "symbols/elf/image_reader.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "symbols/elf/notes.h"
#include "symbols/pe/pe_reader.h"

namespace tracewell::symbols {
namespace {

Error corrupt(std::string text) { return {Errc::Corrupt, std::move(text), {}}; }

/// False when `start + size` does not fit the address space of this class.
bool fits(uint64_t start, uint64_t size, uint32_t address_bytes) {
  const uint64_t last = address_bytes == 4 ? UINT32_MAX : UINT64_MAX;
  return start <= last && size <= last - start;
}

}  // namespace

Status ImageReader::read() {
  if (bytes_.size() < 4 || std::memcmp(bytes_.data(), "\177ELF", 4) != 0)
    return {Errc::Unsupported, "neither an ELF nor a PE file"};
  TW_ASSIGN_OR_RETURN(const ElfHeaders headers, ElfHeaders::read(bytes_));
  TW_RETURN_IF_ERROR(read_header(headers));
  TW_RETURN_IF_ERROR(read_segments(headers));
  TW_RETURN_IF_ERROR(read_sections(headers));
  merge_ranges();
  image_.facts_.build_id = gnu_build_id(headers, bytes_);
  return {};
}

Status ImageReader::read_header(const ElfHeaders& headers) {
  if (headers.type() != ET_EXEC && headers.type() != ET_DYN)
    return {Errc::Unsupported, "neither a program nor a shared library"};
  ImageFacts& facts = image_.facts_;
  facts.address_bytes = headers.address_bytes();
  facts.endian = headers.endian();
  facts.machine = headers.machine();
  facts.relocatable = headers.type() == ET_DYN;
  facts.program = headers.type() == ET_EXEC;
  facts.entry = headers.entry();
  facts.program_header_bytes = headers.segment_header_bytes();
  return {};
}

Result<Bytes> ImageReader::file_range(uint64_t offset, uint64_t size, const char* what) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset)
    return Error{Errc::Corrupt, fmt::format("{} reaches beyond the end of the file", what), offset};
  return bytes_.subspan(offset, size);
}

Status ImageReader::read_segments(const ElfHeaders& headers) {
  const size_t count = headers.segments();
  if (count > Image::kHeadersMax) return {Errc::Limit, "too many program headers"};
  image_.facts_.program_header_count = static_cast<uint32_t>(count);
  for (size_t i = 0; i < count; ++i) {
    const ElfSegment one = headers.segment(i);
    if (one.type == PT_LOAD) TW_RETURN_IF_ERROR(add_load(one));
    if (one.type == PT_INTERP) TW_RETURN_IF_ERROR(read_interpreter(one.offset, one.file_bytes));
    if (one.type == PT_DYNAMIC && !image_.facts_.dynamic) {
      image_.facts_.dynamic = one.address;
      read_dynamic_flags(one.offset, one.file_bytes);
    }
    if (one.type == PT_PHDR) image_.facts_.program_headers = one.address;
  }
  if (!any_load_) return corrupt("no loadable segment");
  ImageFacts& facts = image_.facts_;
  facts.span_bytes = highest_ - facts.link_base;
  // A PIE without an interpreter is linked statically; a library with one (libc) can be run, too,
  // but has a name for others to find it by. Linkers before 2016 did not set the flag.
  facts.program |= pie_flag_ || (!facts.interpreter.empty() && !has_soname_);
  if (!facts.program_headers) find_program_headers(headers.segments_offset());
  return {};
}

Status ImageReader::add_load(const ElfSegment& one) {
  ImageFacts& facts = image_.facts_;
  const uint64_t address = one.address;
  if (!fits(address, std::max(one.memory_bytes, one.file_bytes), facts.address_bytes))
    return corrupt("a segment reaches beyond the end of the address space");
  TW_ASSIGN_OR_RETURN(const Bytes bytes, file_range(one.offset, one.file_bytes, "a segment"));
  // The kernel maps whole pages, so the load address that people see is the rounded one. Alignments
  // may be larger than a page (2 MiB on old x86-64 linkers); the mapping begins at the page.
  const uint64_t page = std::clamp<uint64_t>(one.alignment, 1, 4096);
  const uint64_t start = (page & (page - 1)) == 0 ? address & ~(page - 1) : address;
  facts.link_base = any_load_ ? std::min(facts.link_base, start) : start;
  highest_ = std::max(highest_, address + one.memory_bytes);
  any_load_ = true;
  loads_.push_back({address, one.offset, one.file_bytes});
  if ((one.flags & PF_W) == 0 && !bytes.empty()) found_.push_back({address, bytes});
  return {};
}

Status ImageReader::read_interpreter(uint64_t offset, uint64_t size) {
  TW_ASSIGN_OR_RETURN(const Bytes bytes, file_range(offset, size, "the interpreter's name"));
  const std::string_view text = as_text(bytes);
  image_.facts_.interpreter = text.substr(0, std::min(text.find('\0'), text.size()));
  return {};
}

void ImageReader::read_dynamic_flags(uint64_t offset, uint64_t size) {
  const auto bytes = file_range(offset, size, "the dynamic section");
  if (!bytes) return;
  ByteReader in(*bytes, image_.facts_.endian);
  for (size_t i = 0; i < Image::kHeadersMax; ++i) {
    const auto tag = in.uint(image_.facts_.address_bytes);
    const auto value = in.uint(image_.facts_.address_bytes);
    if (!value || *tag == DT_NULL) return;
    if (*tag == DT_FLAGS_1) pie_flag_ = (*value & DF_1_PIE) != 0;
    if (*tag == DT_SONAME) has_soname_ = true;
  }
}

/// Section headers may be stripped or nonsense; then there is only less to read.
Status ImageReader::read_sections(const ElfHeaders& headers) {
  if (headers.sections() > Image::kHeadersMax) return {Errc::Limit, "too many sections"};
  for (size_t i = 1; i < headers.sections(); ++i) {
    const ElfSectionHeader one = headers.section(i);
    const bool loaded = (one.flags & SHF_ALLOC) != 0 && one.type != SHT_NOBITS;
    if (!loaded || (one.flags & SHF_WRITE) != 0 || one.bytes == 0) continue;
    if (!fits(one.address, one.bytes, image_.facts_.address_bytes)) continue;
    auto bytes = file_range(one.offset, one.bytes, "a section");
    if (bytes) found_.push_back({one.address, *bytes});
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

// Which reader makes an image is the business of the readers.
bool Image::may_be(Bytes head) {
  return as_text(head).starts_with("\x7f" "ELF") || PeReader::is_for(head);
}

Result<std::shared_ptr<Image>> Image::make(Bytes bytes, std::shared_ptr<const void> owner,
                                           std::string path) {
  std::shared_ptr<Image> image(new Image);
  image->path_ = std::move(path);
  image->owner_ = std::move(owner);
  image->file_ = bytes;
  const Status status = PeReader::is_for(bytes) ? PeReader(bytes, *image).read()
                                                : ImageReader(bytes, *image).read();
  if (!status) return Error(status.error()).within(image->path_);
  return image;
}

}  // namespace tracewell::symbols
