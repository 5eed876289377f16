// Nothing here trusts what it reads: an image may say anything of itself.
#include "target/linux/memory/small_stacks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <elf.h>

#include "target/linux/images/build_id.h"

namespace tracewell::target::live {

// The note may have been left out (`-ldflags=-buildid=`). Not so the version, which is near where
// the data begins, behind a text at a multiple of 16 (debug/buildinfo of Go's library).
bool made_by_go(const PatchedMemory& memory, uint64_t start, uint64_t bias) {
  if (!go_build_id_in_memory(memory, start, bias).empty()) return true;
  constexpr std::string_view kVersionHead = "\xff Go buildinf:";
  constexpr size_t kHeadersMax = 512, kSearched = 64 << 10, kAlign = 16;
  const auto file = memory.read_value<Elf64_Ehdr>(start);
  for (size_t i = 0; file && i < std::min<size_t>(file->e_phnum, kHeadersMax); ++i) {
    const uint64_t at_header = start + file->e_phoff + i * sizeof(Elf64_Phdr);
    const auto header = memory.read_value<Elf64_Phdr>(at_header);
    if (!header || header->p_type != PT_LOAD || (header->p_flags & PF_W) == 0) continue;
    const uint64_t begin = (bias + header->p_vaddr + kAlign - 1) / kAlign * kAlign;
    std::vector<uint8_t> data(std::min<uint64_t>(header->p_memsz, kSearched));
    data.resize(memory.read(begin, data));
    for (size_t at = 0; at + kVersionHead.size() <= data.size(); at += kAlign)
      if (std::memcmp(&data[at], kVersionHead.data(), kVersionHead.size()) == 0) return true;
  }
  return false;
}

// A function that takes more than a little of its stack begins by a check (as `ocamlopt -S` shows):
//   lea -N(%rsp),%r10; cmp BOUND(%r14),%r10; jb ...
// where %r14 is the domain's state. No other compiler is known to make that. Names may have been
// taken away (strip), and a plugin has no runtime of its own.
bool made_by_ocaml(Bytes code, const std::function<bool()>& stop) {
  constexpr std::array<uint8_t, 3> kCompare{0x4d, 0x3b, 0x56};  // cmp disp8(%r14),%r10
  constexpr size_t kCompareBytes = 4, kLeaMin = 5, kLeaMax = 8, kPiece = 1 << 20;
  const auto is_check = [&](size_t at) {
    const auto has = [&](size_t from, std::initializer_list<uint8_t> bytes) {
      return from + bytes.size() <= code.size() &&
             std::ranges::equal(code.subspan(from, bytes.size()), bytes);
    };
    const size_t next = at + kCompareBytes;
    return ((at >= kLeaMin && has(at - kLeaMin, {0x4c, 0x8d, 0x54, 0x24})) ||
            (at >= kLeaMax && has(at - kLeaMax, {0x4c, 0x8d, 0x94, 0x24}))) &&
           (has(next, {0x72}) || has(next, {0x0f, 0x82}));
  };
  for (size_t piece = 0; piece < code.size() && !(stop && stop()); piece += kPiece) {
    const Bytes here = code.subspan(piece, std::min(kPiece + kCompare.size() - 1,
                                                    code.size() - piece));
    for (size_t from = 0;;) {
      const void* const found = ::memmem(here.data() + from, here.size() - from, kCompare.data(),
                                         kCompare.size());
      if (found == nullptr) break;
      const auto at = static_cast<size_t>(static_cast<const uint8_t*>(found) - here.data());
      if (is_check(piece + at)) return true;
      from = at + 1;
    }
  }
  return false;
}

}  // namespace tracewell::target::live
