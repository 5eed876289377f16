// The note NT_FILE is documented in Linux's source alone (fs/binfmt_elf.c, fill_files_note): a
// count, a page size, then begin, end and page offset of each mapping, then their paths, each with
// a zero. All numbers are as large as the program's addresses.
#include "symbols/elf/core_file.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/elf/notes.h"

namespace tracewell::symbols {
namespace {

constexpr size_t kPathMax = 4096;
constexpr uint64_t kCorePage = 4096;

Bytes piece(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
}

/// What a header says, within the file.
struct CoreSegment {
  uint64_t address = 0;
  uint64_t offset = 0, size = 0;
};

class CoreReader {
 public:
  CoreReader(Bytes bytes, const ElfHeaders& headers, std::string_view wanted)
      : bytes_(bytes), headers_(headers), wanted_(wanted) {}

  CoreFile read();

 private:
  void read_memory(std::vector<CoreSegment> segments);
  void read_notes(std::vector<CoreSegment> segments);
  void read_notes(Bytes segment);
  void read_files_note(Bytes note);
  void read_process_note(Bytes note);
  void tell_shared(uint64_t count, uint64_t first, std::string_view what);

  const Bytes bytes_;
  const ElfHeaders& headers_;
  const std::string_view wanted_;
  uint64_t too_many_ = 0;
  CoreFile out_;
};

void CoreReader::tell_shared(uint64_t count, uint64_t first, std::string_view what) {
  if (count == 0) return;
  out_.left_out.push_back(fmt::format(
      "the core file is damaged: {} of its segments of {} begin{} inside others, the first at "
      "offset 0x{:x}; what they share is looked at once",
      count, what, count == 1 ? "s" : "", first));
}

/// What is left of a segment begins a page of it, as rings do.
void CoreReader::read_memory(std::vector<CoreSegment> segments) {
  std::ranges::stable_sort(segments, {}, &CoreSegment::offset);
  uint64_t seen = 0, shared = 0, first = 0;
  for (const CoreSegment& one : segments) {
    const uint64_t end = one.offset + one.size;
    uint64_t skipped = 0;
    if (one.offset < seen) {
      if (shared++ == 0) first = one.offset;
      skipped = (seen - one.offset + kCorePage - 1) / kCorePage * kCorePage;
    }
    seen = std::max(seen, end);
    if (skipped < one.size)
      out_.memory.push_back(
          {one.address + skipped, bytes_.subspan(one.offset + skipped, one.size - skipped)});
  }
  tell_shared(shared, first, "memory");
}

/// Where a note begins in what is left of a segment of notes, nobody knows.
void CoreReader::read_notes(std::vector<CoreSegment> segments) {
  std::ranges::stable_sort(segments, {}, &CoreSegment::offset);
  uint64_t seen = 0, shared = 0, first = 0;
  uint64_t left = kCoreNoteBytesMax, left_out = 0, behind = 0;
  for (const CoreSegment& one : segments) {
    if (one.offset < seen) {
      if (shared++ == 0) first = one.offset;
      continue;
    }
    seen = one.offset + one.size;
    const uint64_t used = std::min(one.size, left);
    if (used < one.size && left_out++ == 0) behind = one.offset + used;
    left -= used;
    read_notes(bytes_.subspan(one.offset, used));
  }
  tell_shared(shared, first, "notes");
  if (left_out != 0)
    out_.left_out.push_back(fmt::format(
        "the core file is damaged: it says that it has more than {} bytes of notes; what is behind "
        "them, from offset 0x{:x} on, is not looked at",
        kCoreNoteBytesMax, behind));
  if (too_many_ != 0)
    out_.left_out.push_back(fmt::format(
        "the core file has {} mappings with \"{}\" in their names; the first {} are looked at",
        kCoreMappingsMax + too_many_, printable(wanted_), kCoreMappingsMax));
}

void CoreReader::read_files_note(Bytes note) {
  const uint32_t size = headers_.address_bytes();
  const auto number = [&](uint64_t index) {
    return load_uint(note.data() + index * size, size, headers_.endian());
  };
  if (note.size() < 2 * size) return;
  const uint64_t count = number(0);
  if (count > (note.size() / size - 2) / 3) return;
  uint64_t at = (2 + count * 3) * size;
  for (uint64_t i = 0; i < count; ++i) {
    const auto path = text_at(note, at, kPathMax);
    if (!path) return;
    at += path->size() + 1;
    if (path->find(wanted_) == std::string_view::npos) continue;
    if (out_.mappings.size() < kCoreMappingsMax)
      out_.mappings.push_back({number(2 + i * 3), number(3 + i * 3), number(4 + i * 3) * number(1),
                               std::string(*path)});
    else
      ++too_many_;
  }
}

/// struct elf_prpsinfo of <sys/procfs.h>. In 32 bits it differs between machines.
void CoreReader::read_process_note(Bytes note) {
  const bool wide = headers_.address_bytes() == 8;
  const size_t at = wide ? 24 : 12;
  if ((!wide && headers_.machine() != EM_386) || note.size() < at + 4 || out_.process) return;
  out_.process = static_cast<uint32_t>(load_uint(note.data() + at, 4, headers_.endian()));
}

/// `segment` is one of notes, as it stands.
void CoreReader::read_notes(Bytes segment) {
  NoteReader reader(segment, headers_.endian(), 4);
  while (const auto note = reader.next()) {
    if (note->type == NT_FILE) read_files_note(note->data);
    if (note->type == NT_PRPSINFO) read_process_note(note->data);
  }
}

CoreFile CoreReader::read() {
  std::vector<CoreSegment> memory, notes;
  const size_t count = std::min(headers_.segments(), kCoreSegmentsMax);
  if (count < headers_.segments())
    out_.left_out.push_back(fmt::format(
        "the core file is damaged: it says that it has {} program headers, from offset 0x{:x} on; "
        "those behind the first {} are not looked at",
        headers_.segments(), headers_.segments_offset(), count));
  for (size_t i = 0; i < count; ++i) {
    const ElfSegment segment = headers_.segment(i);
    const Bytes there = piece(bytes_, segment.offset, segment.file_bytes);
    if (there.empty()) continue;
    const CoreSegment one{segment.address, segment.offset, there.size()};
    if (segment.type == PT_LOAD) memory.push_back(one);
    if (segment.type == PT_NOTE) notes.push_back(one);
  }
  read_memory(std::move(memory));
  read_notes(std::move(notes));
  return std::move(out_);
}

}  // namespace

Result<CoreFile> read_core_file(Bytes bytes, std::string_view wanted) {
  const auto headers = ElfHeaders::read(bytes);
  if (!headers || headers->type() != ET_CORE) return {Errc::Corrupt, "this is no core file"};
  if (headers->segments() == 0) return {Errc::Corrupt, "it has no segments"};
  return CoreReader(bytes, *headers, wanted).read();
}

}  // namespace tracewell::symbols
