// A note: three 32-bit numbers (bytes of its name, bytes of its description, type), the name, the
// description, each filled up to four bytes. SystemTap's probes have the name "stapsdt" and type 3;
// their description: the address of the probe, that of section .stapsdt.base when the file was
// linked, that of the semaphore or 0, then provider, name and arguments with a NUL each. Who moves
// sections afterwards (prelink) does not change notes, so the base tells how far they moved.
#include "symbols/elf/markers.h"

#include <optional>
#include <string_view>
#include <utility>

#include <elf.h>

namespace tracewell::symbols {
namespace {

constexpr uint32_t kProbeType = 3, kHookType = 1;
constexpr size_t kMarkersMax = 1 << 16, kTextMax = 4096;
// Sections may all name the same bytes; the notes of the largest programs have some 100 kilobytes.
constexpr uint64_t kNoteBytesMax = 16 << 20;

class Notes {
 public:
  Notes(const ElfFile& file, std::vector<Marker>& out) : file_(file), out_(out) {
    if (const ElfFile::Section* base = file.find(".stapsdt.base")) base_ = base->address;
  }

  void read(Bytes bytes) {
    ByteReader reader(bytes, file_.endian());
    while (out_.size() < kMarkersMax) {
      const auto name_bytes = reader.uint(4), bytes_after = reader.uint(4), type = reader.uint(4);
      const auto name = type ? padded(reader, *name_bytes) : std::nullopt;
      const auto body = name ? padded(reader, *bytes_after) : std::nullopt;
      if (!body) return;
      const std::string_view owner = as_text(*name);
      if (owner == std::string_view("stapsdt\0", 8) && *type == kProbeType) add_probe(*body);
      if (owner == std::string_view("tracewell\0", 10) && *type == kHookType) add_hook(*body);
    }
  }

 private:
  static std::optional<Bytes> padded(ByteReader& reader, uint64_t size) {
    const auto bytes = reader.take(size);
    if (bytes) reader.take(-size % 4);  // behind the last one there may be nothing
    return bytes;
  }

  /// nullopt: there is none that ends here.
  std::optional<std::string> text(Bytes& rest) const {
    const auto found = text_at(rest, 0, kTextMax);
    if (!found) return std::nullopt;
    rest = rest.subspan(found->size() + 1);
    return std::string(*found);
  }

  void add_probe(Bytes body) {
    ByteReader reader(body, file_.endian());
    const uint32_t word = file_.address_bytes();
    const auto address = reader.uint(word), base = reader.uint(word), semaphore = reader.uint(word);
    if (!semaphore) return;
    Bytes rest = body.subspan(size_t{3} * word);
    const auto provider = text(rest), name = text(rest);
    auto arguments = text(rest);
    if (!provider || !name || !arguments) return;
    const uint64_t moved = base_ != 0 && *base != 0 ? base_ - *base : 0;
    out_.push_back({Marker::Kind::Probe, *provider + ":" + *name, *address + moved,
                    *semaphore == 0 ? 0 : *semaphore + moved, *std::move(arguments)});
  }

  void add_hook(Bytes body) {
    ByteReader reader(body, file_.endian());
    const uint32_t word = file_.address_bytes();
    const auto address = reader.uint(word);
    if (!address) return;
    Bytes rest = body.subspan(word);
    const auto label = text(rest), hook_word = text(rest), words = text(rest);
    if (!label || !hook_word || !words) return;
    out_.push_back({Marker::Kind::Hook, "tracewell:" + *label, *address, 0,
                    *hook_word + (words->empty() ? "" : " " + *words)});
  }

  const ElfFile& file_;
  std::vector<Marker>& out_;
  uint64_t base_ = 0;
};

}  // namespace

std::vector<Marker> find_markers(const ElfFile& file) {
  std::vector<Marker> out;
  Notes notes(file, out);
  uint64_t left = kNoteBytesMax;
  for (const ElfFile::Section& section : file.sections()) {
    if (section.name != ".note.stapsdt" && section.name != ".note.tracewell.hooks") continue;
    // Linkers do not compress notes.
    if (section.bytes.size() > left || (section.flags & SHF_COMPRESSED) != 0) continue;
    left -= section.bytes.size();
    notes.read(section.bytes);
  }
  return out;
}

}  // namespace tracewell::symbols
