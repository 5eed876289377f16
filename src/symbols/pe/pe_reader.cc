// What the loader of Windows does with a file: it maps the headers and each section, writes the
// addresses of imported functions into a table that lies in read-only memory nevertheless, and the
// addresses of its own checks into two words, and adds to each address that .reloc names when it
// could not map the file where it wants to be.
#include "symbols/pe/pe_reader.h"

#include <algorithm>
#include <string_view>

namespace tracewell::symbols {
namespace {

using Kind = ImageRelocation::Kind;

constexpr std::string_view kPdbMagics[] = {"Microsoft C/C++ MSF 7.00",
                                           "Microsoft C/C++ program database 2.00"};

bool is_pdb(Bytes bytes) {
  return std::any_of(std::begin(kPdbMagics), std::end(kPdbMagics),
                     [&](std::string_view magic) { return as_text(bytes).starts_with(magic); });
}

}  // namespace

bool PeReader::is_for(Bytes bytes) { return PeFile::has_magic(bytes) || is_pdb(bytes); }

Status PeReader::read() {
  if (is_pdb(bytes_))
    return {Errc::Unsupported,
            "PDB files are not read; give the program or library itself, whose exports and COFF "
            "symbols are"};
  TW_ASSIGN_OR_RETURN(const PeFile file, PeFile::parse(bytes_));
  ImageFacts& facts = image_.facts_;
  facts.format = ImageFacts::Format::Pe;
  facts.address_bytes = file.address_bytes();
  facts.machine = file.machine();
  facts.relocatable = file.movable();
  facts.program = !file.library();
  facts.link_base = file.image_base();
  facts.span_bytes = file.size_of_image();
  if (file.entry() != 0 && file.entry() < facts.span_bytes)
    facts.entry = facts.link_base + file.entry();
  facts.build_id = file.build_id();
  facts.first_section =
      facts.link_base + (file.sections().empty() ? 0 : file.sections().front().rva);
  if (file.coff_symbols().empty() && file.find(".debug_line") == nullptr)
    facts.symbols_in = file.debug_file();
  find_written_by_loader(file);
  add_range(file, 0, file.headers());
  for (const PeFile::Section& section : file.sections())
    if (!section.writable()) add_range(file, section.rva, section.bytes);
  read_relocations(file);
  return {};
}

/// The load configuration names the two words by their addresses; its first field is its size.
void PeReader::find_written_by_loader(const PeFile& file) {
  const uint32_t word = file.address_bytes();
  if (const auto place = file.table(PeFile::Table::ImportAddresses); place.size != 0)
    holes_.push_back(place);
  const Bytes config = file.from(file.table(PeFile::Table::LoadConfig).rva);
  const size_t first = word == 8 ? 0x70 : 0x48;
  const uint64_t size = config.size() < 4 ? 0 : load_uint(config.data(), 4, Endian::Little);
  for (size_t at = first; at < first + 2 * word; at += word) {
    if (at + word > std::min<uint64_t>(size, config.size())) break;
    const uint64_t address = load_uint(config.data() + at, word, Endian::Little);
    if (address >= file.image_base() && address - file.image_base() < file.size_of_image())
      holes_.push_back({static_cast<uint32_t>(address - file.image_base()), word});
  }
  std::sort(holes_.begin(), holes_.end(),
            [](const PeFile::Place& a, const PeFile::Place& b) { return a.rva < b.rva; });
}

void PeReader::add_range(const PeFile& file, uint32_t rva, Bytes bytes) {
  const auto put = [&](uint64_t from, uint64_t to) {
    if (from < to)
      image_.read_only_.push_back({file.image_base() + rva + from, bytes.subspan(from, to - from)});
  };
  uint64_t done = 0;
  for (const PeFile::Place& hole : holes_) {
    const uint64_t hole_end = uint64_t{hole.rva} + hole.size;
    if (hole_end <= rva + done || hole.rva >= rva + bytes.size()) continue;
    if (hole.rva > rva + done) put(done, hole.rva - rva);
    done = std::min<uint64_t>(hole_end - rva, bytes.size());
  }
  put(done, bytes.size());
}

/// Blocks of a page each: its address, the block's size, then 16 bits for each number: type and
/// offset in the page.
void PeReader::read_relocations(const PeFile& file) {
  constexpr size_t kHead = 8;
  const PeFile::Place place = file.table(PeFile::Table::Relocations);
  if (!file.movable() || place.size == 0) return;
  Bytes rest = file.from(place.rva);
  rest = rest.first(std::min<size_t>(place.size, rest.size()));
  while (rest.size() >= kHead) {
    const uint64_t page = load_uint(rest.data(), 4, Endian::Little);
    const uint64_t size = load_uint(rest.data() + 4, 4, Endian::Little);
    if (size < kHead) break;
    const Bytes block = rest.first(std::min<uint64_t>(size, rest.size()));
    for (size_t at = kHead; at + 2 <= block.size(); at += 2) {
      const uint64_t entry = load_uint(block.data() + at, 2, Endian::Little);
      add_relocation(file, page + (entry & 0xfff), static_cast<uint16_t>(entry >> 12));
    }
    rest = rest.subspan(block.size());
  }
  keep_sound_relocations();
}

/// Type 4 needs two entries and was for processors of the past; 0 fills up.
void PeReader::add_relocation(const PeFile& file, uint64_t rva, uint16_t type) {
  ImageRelocation one;
  switch (type) {
    case 1: one.kind = Kind::High16; break;
    case 2: one.kind = Kind::Low16; break;
    case 3: one.kind = Kind::Word32; break;
    case 10: one.kind = Kind::Word64; break;
    default: return;
  }
  if (rva >= file.size_of_image()) return;
  one.offset = static_cast<uint32_t>(rva);
  // In what can be written to nobody asks for it.
  if (image_.covers(file.image_base() + rva, one.size_bytes())) image_.relocations_.push_back(one);
}

void PeReader::keep_sound_relocations() {
  auto& all = image_.relocations_;
  std::stable_sort(all.begin(), all.end(), [](const ImageRelocation& a, const ImageRelocation& b) {
    return a.offset < b.offset;
  });
  size_t kept = 0;
  uint64_t end = 0;
  for (const ImageRelocation& one : all) {
    if (one.offset < end) continue;
    end = one.offset + one.size_bytes();
    all[kept++] = one;
  }
  all.resize(kept);
}

}  // namespace tracewell::symbols
