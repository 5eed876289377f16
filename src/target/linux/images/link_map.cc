// Layouts: elf.h and link.h of the C library. Nothing here trusts what it reads: the program may be
// half way through changing it, or broken.
#include "target/linux/images/link_map.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include <elf.h>
#include <unistd.h>

#include "target/linux/images/mapped_files.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kObjectsMax = 65536;
constexpr size_t kNameMax = 4096;
constexpr size_t kNamesMax = 16 << 20;  // bytes, of all of them
constexpr size_t kProgramHeadersMax = 512;
constexpr size_t kDynamicMax = 1024;
constexpr size_t kNamespacesMax = 64;

template <class Word>
struct LinkMap {
  Word l_addr, l_name, l_ld, l_next, l_prev;
};

template <class Word>
struct RDebug {
  int32_t version;  // and padding, up to a word
  Word map, brk, state, ldbase, next;
};

/// The structures of programs of one kind.
struct Elf64 {
  using Word = uint64_t;
  using FileHeader = Elf64_Ehdr;
  using ProgramHeader = Elf64_Phdr;
  using Dynamic = Elf64_Dyn;
};
struct Elf32 {
  using Word = uint32_t;
  using FileHeader = Elf32_Ehdr;
  using ProgramHeader = Elf32_Phdr;
  using Dynamic = Elf32_Dyn;
};

template <class Elf>
std::optional<uint64_t> entry_in_file(Tid tid) {
  const auto file = open_program(tid);
  typename Elf::FileHeader header{};
  if (!file.ok() || ::read(file->get(), &header, sizeof header) != sizeof header)
    return std::nullopt;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  return header.e_entry;
}

/// The list stands in the program's memory, which may hold anything, a ring too.
template <class Elf>
void walk(const PatchedMemory& memory, uint64_t r_debug, uint64_t first,
          std::vector<LoadedObject>& out) {
  std::unordered_set<uint64_t> seen;
  size_t names = 0;
  for (const LoadedObject& one : out) names += one.name.size();
  for (uint64_t at = first; at != 0 && out.size() < kObjectsMax && names < kNamesMax;) {
    const auto map = memory.read_value<LinkMap<typename Elf::Word>>(at);
    if (!map || !seen.insert(at).second) return;
    out.push_back({at, map->l_addr, map->l_ld, r_debug,
                   map->l_name != 0 ? memory.read_text(map->l_name, kNameMax) : ""});
    names += out.back().name.size();
    at = map->l_next;
  }
}

template <class Elf>
MainProgram find_program(const PatchedMemory& memory, const AuxValues& aux, Tid tid) {
  using Header = typename Elf::ProgramHeader;
  using Word = typename Elf::Word;
  MainProgram program;
  std::optional<Word> bias, dynamic;
  for (size_t i = 0; i < std::min<uint64_t>(aux.phnum, kProgramHeadersMax); ++i) {
    const auto header = memory.read_value<Header>(aux.phdr + i * sizeof(Header));
    if (!header) break;
    if (header->p_type == PT_PHDR) bias = static_cast<Word>(aux.phdr - header->p_vaddr);
    if (header->p_type == PT_DYNAMIC) dynamic = header->p_vaddr;
    if (header->p_type == PT_TLS) {
      program.thread_local_bytes = header->p_memsz;
      program.thread_local_alignment = header->p_align;
    }
  }
  if (!bias)
    bias = static_cast<Word>(aux.entry - entry_in_file<Elf>(tid).value_or(aux.entry));
  program.bias = *bias;
  if (dynamic) program.dynamic = static_cast<Word>(*bias + *dynamic);
  return program;
}

template <class Elf>
std::optional<uint64_t> find_list(const PatchedMemory& memory, const MainProgram& program) {
  using Dynamic = typename Elf::Dynamic;
  for (size_t i = 0; i < kDynamicMax; ++i) {
    const auto entry = memory.read_value<Dynamic>(program.dynamic + i * sizeof(Dynamic));
    if (!entry || entry->d_tag == DT_NULL) return std::nullopt;
    if (entry->d_tag == DT_DEBUG) return entry->d_un.d_ptr;
  }
  return std::nullopt;
}

template <class Elf>
std::vector<LoadedObject> objects(const PatchedMemory& memory, uint64_t at) {
  std::vector<LoadedObject> result;
  for (size_t i = 0; at != 0 && i < kNamespacesMax; ++i) {
    const auto debug = memory.read_value<RDebug<typename Elf::Word>>(at);
    if (!debug || debug->version <= 0) break;
    walk<Elf>(memory, at, debug->map, result);
    at = debug->version >= 2 ? debug->next : 0;
  }
  return result;
}

}  // namespace

AuxValues parse_auxv(Bytes auxv, bool is_32_bit) {
  const size_t word = is_32_bit ? 4 : 8;
  AuxValues values;
  ByteReader reader(auxv, Endian::Little);
  for (;;) {
    const auto type = reader.uint(word);
    const auto value = reader.uint(word);
    if (!type || !value || *type == AT_NULL) return values;
    if (*type == AT_PHDR) values.phdr = *value;
    if (*type == AT_PHENT) values.phent = *value;
    if (*type == AT_PHNUM) values.phnum = *value;
    if (*type == AT_ENTRY) values.entry = *value;
    if (*type == AT_BASE) values.base = *value;
  }
}

MainProgram find_main_program(const PatchedMemory& memory, const AuxValues& aux, Tid tid) {
  return memory.is_32_bit ? find_program<Elf32>(memory, aux, tid)
                          : find_program<Elf64>(memory, aux, tid);
}

std::optional<uint64_t> loaders_list(const PatchedMemory& memory, const MainProgram& program) {
  if (program.dynamic == 0) return std::nullopt;
  return memory.is_32_bit ? find_list<Elf32>(memory, program) : find_list<Elf64>(memory, program);
}

std::vector<LoadedObject> loaded_objects(const PatchedMemory& memory, const MainProgram& program) {
  const uint64_t at = loaders_list(memory, program).value_or(0);
  return memory.is_32_bit ? objects<Elf32>(memory, at) : objects<Elf64>(memory, at);
}

}  // namespace tracewell::target::live
