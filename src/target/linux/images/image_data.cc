// Layouts: elf.h; relative relocations that are packed (RELR) as the generic ABI has them. Nothing
// here trusts what it reads.
#include "target/linux/images/image_data.h"

#include <algorithm>
#include <cstring>

#include <elf.h>

#include "target/linux/memory/patched_memory.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kSegmentsMax = 256;
constexpr uint64_t kDynamicBytesMax = 16 << 10, kTableMax = uint64_t{256} << 20;  // bytes
constexpr size_t kEntriesAtATime = 4096;  // entries of a table, at a time

/// The structures of images of one kind, and the relocations that matter.
struct Image64 {
  using Word = uint64_t;
  using FileHeader = Elf64_Ehdr;
  using ProgramHeader = Elf64_Phdr;
  using Dynamic = Elf64_Dyn;
  using Relocation = Elf64_Rela;
  static constexpr unsigned char kClass = ELFCLASS64;
  static constexpr auto kTable = DT_RELA, kTableBytes = DT_RELASZ;
  static bool relative(const Relocation& one) {
    return ELF64_R_TYPE(one.r_info) == R_X86_64_RELATIVE;
  }
  static uint64_t addend(const Relocation& one) { return one.r_addend; }
};
struct Image32 {
  using Word = uint32_t;
  using FileHeader = Elf32_Ehdr;
  using ProgramHeader = Elf32_Phdr;
  using Dynamic = Elf32_Dyn;
  using Relocation = Elf32_Rel;
  static constexpr unsigned char kClass = ELFCLASS32;
  static constexpr auto kTable = DT_REL, kTableBytes = DT_RELSZ;
  static bool relative(const Relocation& one) {
    return ELF32_R_TYPE(one.r_info) == R_386_RELATIVE;
  }
  static uint64_t addend(const Relocation&) { return 0; }  // it is where the sum will be
};

/// Calls it with the entries of a table, one after the other, as far as they can be read.
template <class Entry, class Visit>
void each(const PatchedMemory& memory, pads::Range table, const std::function<bool()>& stop,
          const Visit& visit) {
  std::vector<Entry> entries(kEntriesAtATime);
  uint64_t at = table.start, left = std::min(table.end - table.start, kTableMax) / sizeof(Entry);
  while (left > 0 && !(stop && stop())) {
    const size_t wanted = std::min<uint64_t>(left, kEntriesAtATime);
    auto* const bytes = reinterpret_cast<uint8_t*>(entries.data());
    const size_t got = memory.read(at, {bytes, wanted * sizeof(Entry)}) / sizeof(Entry);
    std::for_each_n(entries.begin(), got, visit);
    if (got < wanted) return;
    at += got * sizeof(Entry);
    left -= got;
  }
}

}  // namespace

ImageData::ImageData(const PatchedMemory& memory, const std::vector<Mapping>& maps,
                     const Mapping& code, const Stop& stop)
    : memory_(memory) {
  if (code.path.empty()) return;
  uint64_t image = 0;
  for (const Mapping& map : maps) {
    if (map.path != code.path) continue;
    if (map.file_offset == 0 && map.start <= code.start) image = map.start;
    if (map.readable && !map.executable) parts_.push_back({map.start, map.end});
  }
  if (image == 0) return;
  if (memory.is_32_bit)
    take_image<Image32>(image, stop);
  else
    take_image<Image64>(image, stop);
  std::ranges::sort(fixes_, {}, &Fix::address);
}

template <class Image>
void ImageData::take_image(uint64_t image, const Stop& stop) {
  using Header = typename Image::ProgramHeader;
  const auto file = memory_.read_value<typename Image::FileHeader>(image);
  if (!file || std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 ||
      file->e_ident[EI_CLASS] != Image::kClass || file->e_phentsize != sizeof(Header) ||
      file->e_phnum > kSegmentsMax)
    return;
  std::vector<Header> segments;
  const uint64_t at = image + file->e_phoff;
  each<Header>(memory_, {at, at + file->e_phnum * sizeof(Header)}, stop,
               [&](const Header& one) { segments.push_back(one); });
  const auto find = [&](uint32_t type) {
    return std::ranges::find(segments, type, [](const Header& one) { return one.p_type; });
  };
  const auto first = find(PT_LOAD);
  if (first == segments.end()) return;
  start_ = image;
  bias_ = static_cast<typename Image::Word>(image - (first->p_vaddr - first->p_offset));
  const auto range = [&](uint32_t type, uint64_t max) {
    const auto one = find(type);
    if (one == segments.end()) return pads::Range{};
    const uint64_t start = bias_ + one->p_vaddr;
    return pads::Range{start, start + std::min<uint64_t>(one->p_memsz, max)};
  };
  unwind_index_ = range(PT_GNU_EH_FRAME, kTableMax);
  if (bias_ != 0) take_relocations<Image>(range(PT_DYNAMIC, kDynamicBytesMax), stop);
}

template <class Image>
void ImageData::take_relocations(pads::Range dynamic, const Stop& stop) {
  uint64_t table = 0, bytes = 0, packed = 0, packed_bytes = 0;
  each<typename Image::Dynamic>(memory_, dynamic, stop, [&](const auto& one) {
    const uint64_t value = one.d_un.d_val;
    // The loader may have made an address of the image's own out of it.
    const uint64_t address = value < bias_ ? bias_ + value : value;
    if (one.d_tag == Image::kTable) table = address;
    if (one.d_tag == Image::kTableBytes) bytes = value;
    if (one.d_tag == DT_RELR) packed = address;
    if (one.d_tag == DT_RELRSZ) packed_bytes = value;
  });
  each<typename Image::Relocation>(memory_, {table, table + bytes}, stop, [&](const auto& one) {
    if (!Image::relative(one)) return;
    const uint64_t addend = Image::addend(one);
    add({bias_ + one.r_offset, addend == 0 ? 0 : bias_ + addend});
  });
  take_packed<typename Image::Word>({packed, packed + packed_bytes}, stop);
}

/// An even entry is where a word is, each bit of an odd one says of one of those behind it.
template <class Word>
void ImageData::take_packed(pads::Range table, const Stop& stop) {
  constexpr uint64_t kBits = sizeof(Word) * 8 - 1;
  uint64_t next = 0;
  each<Word>(memory_, table, stop, [&](Word entry) {
    if ((entry & 1) == 0) {
      add({bias_ + entry, 0});
      next = bias_ + entry + sizeof(Word);
      return;
    }
    for (uint64_t bit = 0; bit < kBits; ++bit)
      if ((entry >> (bit + 1) & 1) != 0) add({next + bit * sizeof(Word), 0});
    next += kBits * sizeof(Word);
  });
}

size_t ImageData::read(uint64_t address, std::span<uint8_t> into) const {
  const size_t got = memory_.read(address, into);
  if (memory_.is_32_bit)
    apply<uint32_t>(address, into.first(got));
  else
    apply<uint64_t>(address, into.first(got));
  return got;
}

template <class Word>
void ImageData::apply(uint64_t address, std::span<uint8_t> bytes) const {
  auto fix = std::ranges::lower_bound(fixes_, address, {}, &Fix::address);
  for (; fix != fixes_.end(); ++fix) {
    const uint64_t before = fix->address - address;
    if (before > bytes.size() || bytes.size() - before < sizeof(Word)) return;
    uint8_t* const at = &bytes[before];
    Word word = 0;
    std::memcpy(&word, at, sizeof word);
    const auto bias = static_cast<Word>(bias_), value = static_cast<Word>(fix->value);
    if (value == 0 && word < bias) word += bias;
    if (value != 0 && (word == 0 || word + bias == value)) word = value;
    std::memcpy(at, &word, sizeof word);
  }
}

}  // namespace tracewell::target::live
