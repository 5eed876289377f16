#include "target/linux/code_facts.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include <elf.h>
#include <fmt/format.h>

#include "pads/restartable.h"
#include "symbols/unwind_table.h"
#include "target/linux/address_space.h"
#include "target/linux/build_id.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kStackGrowth = uint64_t{16} << 20, kHeapGrowth = uint64_t{256} << 20;
constexpr uint64_t kSegmentMax = uint64_t{1} << 30;  // bytes of code, or of data, of one image
constexpr uint64_t kTableMax = uint64_t{64} << 20;   // what of .eh_frame is looked at
constexpr size_t kImageHeadersMax = 256;
constexpr uint64_t kPiece = 1 << 20;  // of data, at a time: whole pages

struct ImageHeaders {
  uint64_t bias = 0;  // what to add to its own addresses
  std::vector<Elf64_Phdr> segments;
};

std::optional<ImageHeaders> image_headers(const AddressSpace& space, uint64_t image) {
  const auto header = space.read_value<Elf64_Ehdr>(image);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr) ||
      header->e_phnum > kImageHeadersMax)
    return std::nullopt;
  std::vector<Elf64_Phdr> segments(header->e_phnum);
  const std::span bytes(reinterpret_cast<uint8_t*>(segments.data()),
                        segments.size() * sizeof segments[0]);
  if (space.read(image + header->e_phoff, bytes) != bytes.size()) return std::nullopt;
  const auto first = std::ranges::find(segments, uint32_t{PT_LOAD}, &Elf64_Phdr::p_type);
  if (first == segments.end()) return std::nullopt;
  return ImageHeaders{image - (first->p_vaddr - first->p_offset), std::move(segments)};
}

/// Where the image's .eh_frame_hdr is in memory; an empty range when it has none.
pads::Range unwind_index(const ImageHeaders& image) {
  const auto index =
      std::ranges::find(image.segments, uint32_t{PT_GNU_EH_FRAME}, &Elf64_Phdr::p_type);
  if (index == image.segments.end()) return {};
  const uint64_t start = image.bias + index->p_vaddr;
  return {start, start + std::min(index->p_memsz, kTableMax)};
}

class ImageFacts {
 public:
  ImageFacts(const AddressSpace& space, const Mapping& code) : space_(space), code_(code) {}

  CodeFacts take(const std::vector<Mapping>& maps) {
    facts_.input.code = area(code_.start, code_.end);
    uint64_t image = 0;
    for (const Mapping& map : maps) {
      if (map.path != code_.path || map.path.empty()) continue;
      if (map.file_offset == 0 && map.start <= code_.start) image = map.start;
      if (map.readable && !map.executable)
        facts_.input.data.push_back(area(map.start, map.end));
    }
    facts_.input.kept = pads::restartable_sequences(facts_.input.code, facts_.input.data);
    if (image != 0) take_image(image);
    return std::move(facts_);
  }

 private:
  pads::Area area(uint64_t start, uint64_t end) {
    std::vector<uint8_t> bytes(std::min(end - start, kSegmentMax));
    bytes.resize(space_.read(start, bytes));
    facts_.bytes.push_back(std::move(bytes));
    return {start, facts_.bytes.back()};
  }
  /// What stands at the address, to the end of what was read there.
  Bytes at(uint64_t address) const {
    for (const pads::Area& area : facts_.input.data)
      if (address >= area.address && address - area.address < area.bytes.size())
        return area.bytes.subspan(address - area.address);
    return {};
  }
  void take_image(uint64_t image) {
    const auto headers = image_headers(space_, image);
    if (!headers) return;
    facts_.made_by_go = made_by_go(space_, image, headers->bias);
    take_functions(unwind_index(*headers));
  }
  void take_functions(pads::Range index) {
    const Bytes header = at(index.start);
    if (header.empty()) return;
    const uint64_t table = symbols::unwind_table_of(
        header.first(std::min<size_t>(header.size(), index.end - index.start)), index.start);
    for (const symbols::UnwindRange& one : symbols::read_unwind_table(at(table), table)) {
      if (one.start < code_.start || one.end > code_.end) continue;
      facts_.input.functions.push_back({one.start, one.end});
      if (one.handlers == 0) continue;
      const auto handlers = symbols::read_handlers(at(one.handlers), one.handlers, one.start);
      facts_.input.entries.insert(facts_.input.entries.end(), handlers.begin(), handlers.end());
    }
  }

  const AddressSpace& space_;
  const Mapping& code_;
  CodeFacts facts_;
};

}  // namespace

Result<CodeFacts> code_around(const AddressSpace& space, const std::vector<Mapping>& maps,
                              uint64_t address) {
  const auto code = std::ranges::find_if(maps, [&](const Mapping& map) {
    return map.executable && address >= map.start && address < map.end;
  });
  if (code == maps.end() || code->end - code->start > kSegmentMax)
    return {Errc::Unsupported, fmt::format("no code of an image is at 0x{:x}", address)};
  return ImageFacts(space, *code).take(maps);
}

bool in_restartable_sequence(AddressSpace& space, const std::vector<Mapping>& maps,
                             uint64_t address) {
  const auto code = std::ranges::find_if(maps, [&](const Mapping& map) {
    return map.executable && address >= map.start && address < map.end;
  });
  if (code == maps.end() || code->path.empty()) return false;
  AddressSpace::Sequences& known = space.sequences[code->start];
  if (known.path != code->path || known.end != code->end) {
    known = {code->end, code->path, {}};
    const auto read_code = [&](uint64_t at) { return space.read_value<uint32_t>(at).value_or(0); };
    std::vector<uint8_t> bytes;
    for (const Mapping& map : maps) {
      if (map.path != code->path || !map.readable || map.executable) continue;
      for (uint64_t at = map.start; at < map.end; at += kPiece) {
        bytes.resize(std::min(map.end - at, kPiece));
        bytes.resize(space.read(at, bytes));
        const pads::Area area{at, bytes};
        std::ranges::copy(
            pads::restartable_sequences({code->start, code->end}, read_code, {&area, 1}),
            std::back_inserter(known.ranges));
      }
    }
  }
  return std::ranges::any_of(known.ranges,
                             [&](const pads::Range& one) { return one.holds(address); });
}

std::vector<pads::Range> taken_by(const std::vector<Mapping>& maps) {
  std::vector<pads::Range> taken;
  for (const Mapping& map : maps) {
    pads::Range range{map.start, map.end};
    if (map.path.starts_with("[stack")) range.start -= std::min(range.start, kStackGrowth);
    if (map.path == "[heap]") range.end += kHeapGrowth;
    taken.push_back(range);
  }
  return taken;
}

}  // namespace tracewell::target::live
