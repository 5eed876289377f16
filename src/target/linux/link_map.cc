// Layouts: elf.h and link.h of the C library. Nothing here trusts what it reads: the program may be
// half way through changing it, or broken.
#include "target/linux/link_map.h"

#include <cstring>
#include <fstream>
#include <unordered_set>

#include <elf.h>

namespace tracewell::target::live {
namespace {

constexpr size_t kObjectsMax = 65536;
constexpr size_t kNameMax = 4096;
constexpr size_t kHeadersMax = 512;
constexpr size_t kDynamicMax = 1024;
constexpr size_t kNamespacesMax = 64;

struct LinkMap {
  uint64_t l_addr, l_name, l_ld, l_next, l_prev;
};

struct RDebug {
  int32_t version;
  int32_t padding;
  uint64_t map, brk, state, ldbase, next;
};

std::optional<uint64_t> entry_in_file(const std::string& exe) {
  std::ifstream file(exe, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  return header.e_entry;
}

/// The list stands in the program's memory, which may hold anything, a ring too.
void walk(const AddressSpace& space, uint64_t r_debug, uint64_t first,
          std::vector<LoadedObject>& out) {
  std::unordered_set<uint64_t> seen;
  for (uint64_t at = first; at != 0 && out.size() < kObjectsMax;) {
    const auto map = space.read_value<LinkMap>(at);
    if (!map || !seen.insert(at).second) return;
    out.push_back({at, map->l_addr, map->l_ld, r_debug,
                   map->l_name != 0 ? space.read_text(map->l_name, kNameMax) : ""});
    at = map->l_next;
  }
}

}  // namespace

AuxValues parse_auxv(Bytes auxv) {
  AuxValues values;
  ByteReader reader(auxv, Endian::Little);
  for (;;) {
    const auto type = reader.uint(8);
    const auto value = reader.uint(8);
    if (!type || !value || *type == AT_NULL) return values;
    if (*type == AT_PHDR) values.phdr = *value;
    if (*type == AT_PHENT) values.phent = *value;
    if (*type == AT_PHNUM) values.phnum = *value;
    if (*type == AT_ENTRY) values.entry = *value;
    if (*type == AT_BASE) values.base = *value;
  }
}

MainProgram find_main_program(const AddressSpace& space, const AuxValues& aux,
                              const std::string& exe) {
  MainProgram program;
  std::optional<uint64_t> bias, dynamic;
  for (size_t i = 0; i < std::min<uint64_t>(aux.phnum, kHeadersMax); ++i) {
    const auto header = space.read_value<Elf64_Phdr>(aux.phdr + i * sizeof(Elf64_Phdr));
    if (!header) break;
    if (header->p_type == PT_PHDR) bias = aux.phdr - header->p_vaddr;
    if (header->p_type == PT_DYNAMIC) dynamic = header->p_vaddr;
  }
  if (!bias) bias = aux.entry - entry_in_file(exe).value_or(aux.entry);
  program.bias = *bias;
  if (dynamic) program.dynamic = *bias + *dynamic;
  return program;
}

std::optional<uint64_t> loaders_list(const AddressSpace& space, const MainProgram& program) {
  if (program.dynamic == 0) return std::nullopt;
  for (size_t i = 0; i < kDynamicMax; ++i) {
    const auto entry = space.read_value<Elf64_Dyn>(program.dynamic + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) return std::nullopt;
    if (entry->d_tag == DT_DEBUG) return entry->d_un.d_ptr;
  }
  return std::nullopt;
}

std::vector<LoadedObject> loaded_objects(const AddressSpace& space, const MainProgram& program) {
  std::vector<LoadedObject> result;
  uint64_t at = loaders_list(space, program).value_or(0);
  for (size_t i = 0; at != 0 && i < kNamespacesMax; ++i) {
    const auto debug = space.read_value<RDebug>(at);
    if (!debug || debug->version <= 0) break;
    walk(space, at, debug->map, result);
    at = debug->version >= 2 ? debug->next : 0;
  }
  return result;
}

}  // namespace tracewell::target::live
