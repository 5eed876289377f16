// Thread-local variables of programs with the GNU C library. Each thread has a vector (the dtv) of
// its modules' blocks. Where it hangs, how it looks and where a module keeps its number differ from
// version to version; the library describes it in symbols `_thread_db_*`, made for its own
// libthread_db: three 32-bit numbers each, bits, count, offset. We look those up in the program's
// memory, so that neither that library nor the debugger's help is needed.
//
// What is read may be half way through changing, or made up: every walk is bounded.
#include "target/linux/images/thread_locals.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include <elf.h>

#include <fmt/format.h>

#include "target/linux/images/link_map.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/threads/register_blocks.h"
#include "target/linux/threads/sample.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kDynamicTagsMax = 1024;
constexpr size_t kChainMax = 65536;
constexpr size_t kSlotListsMax = 1024;
constexpr size_t kSlotsMax = 1 << 20;
constexpr size_t kReadsMax = 1'000'000;  // for one answer
constexpr size_t kReadsPerLook = 256;    // at whether the answer is still wanted

/// How much may be read for one answer: each list in the program is bounded, and a program that
/// lies has many of them.
class Budget {
 public:
  explicit Budget(const std::function<bool()>& gives_up) : gives_up_(gives_up) {}
  bool take() {
    if (left_ % kReadsPerLook == 0 && gives_up_ && gives_up_()) left_ = 0;
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  bool spent() const { return left_ == 0; }

 private:
  const std::function<bool()>& gives_up_;
  size_t left_ = kReadsMax;
};

/// The program's memory as its own pointers see it.
struct Memory {
  const AddressSpace& space;
  Budget& budget;
  uint64_t word = 8;  // bytes of a pointer

  std::optional<uint64_t> uint(uint64_t at, size_t bytes) const {
    uint8_t raw[8];
    if (bytes > sizeof raw || !budget.take() || space.read(at, {raw, bytes}) != bytes)
      return std::nullopt;
    return load_uint(raw, bytes, Endian::Little);
  }
  std::optional<uint64_t> pointer(uint64_t at) const { return uint(at, word); }
};

/// A module's dynamic symbols, by the GNU hash table.
class Symbols {
 public:
  Symbols(const Memory& memory, const LoadedObject& object) : memory_(memory), bias_(object.bias) {
    for (size_t i = 0; i < kDynamicTagsMax; ++i) {
      const uint64_t at = object.dynamic + i * 2 * memory.word;
      const auto tag = memory.pointer(at), value = memory.pointer(at + memory.word);
      if (!tag || !value || *tag == DT_NULL) break;
      if (*tag == DT_SYMTAB) symbols_ = absolute(*value);
      if (*tag == DT_STRTAB) strings_ = absolute(*value);
      if ((*tag & 0xffffffff) == DT_GNU_HASH) hash_ = absolute(*value);
    }
  }

  std::optional<uint64_t> find(std::string_view name) const {
    if (symbols_ == 0 || strings_ == 0 || hash_ == 0) return std::nullopt;
    uint32_t wanted = 5381;
    for (const char c : name) wanted = wanted * 33 + static_cast<uint8_t>(c);
    const auto buckets = memory_.uint(hash_, 4), first = memory_.uint(hash_ + 4, 4),
               blooms = memory_.uint(hash_ + 8, 4);
    if (!buckets || !first || !blooms || *buckets == 0) return std::nullopt;
    const uint64_t bucket_at = hash_ + 16 + *blooms * memory_.word;
    const auto start = memory_.uint(bucket_at + wanted % *buckets * 4, 4);
    if (!start || *start < *first) return std::nullopt;
    const uint64_t chain_at = bucket_at + *buckets * 4;
    for (uint64_t i = *start; i - *start < kChainMax; ++i) {
      const auto hash = memory_.uint(chain_at + (i - *first) * 4, 4);
      if (!hash) return std::nullopt;
      if ((*hash | 1) == (wanted | 1))
        if (auto value = value_if(i, name)) return value;
      if ((*hash & 1) != 0) break;
    }
    return std::nullopt;
  }

 private:
  /// The loader has made these absolute, mostly.
  uint64_t absolute(uint64_t value) const { return value < bias_ ? value + bias_ : value; }
  std::optional<uint64_t> value_if(uint64_t index, std::string_view name) const {
    const bool wide = memory_.word == 8;
    const uint64_t at = symbols_ + index * (wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
    const auto name_at = memory_.uint(at, 4);
    const auto value = memory_.pointer(at + (wide ? 8 : 4));
    if (!name_at || !value || *value == 0) return std::nullopt;
    if (memory_.space.read_text(strings_ + *name_at, name.size() + 1) != name) return std::nullopt;
    return bias_ + *value;
  }

  Memory memory_;
  uint64_t bias_ = 0, symbols_ = 0, strings_ = 0, hash_ = 0;
};

/// What the library says about itself.
class Layout {
 public:
  Layout(const Memory& memory, const std::vector<LoadedObject>& objects) : memory_(memory) {
    for (const LoadedObject& object : objects) {
      Symbols symbols(memory, object);
      if (!symbols.find("_thread_db_link_map_l_tls_modid")) continue;
      library_.emplace(symbols);
      break;
    }
    for (const LoadedObject& object : objects) {
      rtld_global_ = Symbols(memory, object).find("_rtld_global");
      if (rtld_global_) break;
    }
  }
  bool known() const { return library_.has_value(); }

  struct Field {
    uint64_t bytes = 0, offset = 0;
  };
  std::optional<Field> field(std::string_view name) const {
    const auto at = library_->find(fmt::format("_thread_db_{}", name));
    if (!at) return std::nullopt;
    const auto bits = memory_.uint(*at, 4), offset = memory_.uint(*at + 8, 4);
    if (!bits || !offset) return std::nullopt;
    return Field{*bits / 8, *offset};
  }
  /// The number that stands in such a field of the object at `base`.
  std::optional<uint64_t> value(std::string_view name, uint64_t base) const {
    const auto where = field(name);
    if (!where) return std::nullopt;
    return memory_.uint(base + where->offset, where->bytes);
  }
  std::optional<uint64_t> size_of(std::string_view name) const {
    const auto at = library_->find(fmt::format("_thread_db_sizeof_{}", name));
    return at ? memory_.uint(*at, 4) : std::nullopt;
  }
  std::optional<uint64_t> rtld_global() const { return rtld_global_; }

 private:
  Memory memory_;
  std::optional<Symbols> library_;
  std::optional<uint64_t> rtld_global_;
};

/// In which generation of the set of modules this one came. A vector that is older has something
/// else in its place.
std::optional<uint64_t> generation(const Layout& layout, uint64_t module) {
  const auto global = layout.rtld_global();
  const auto head = layout.field("rtld_global__dl_tls_dtv_slotinfo_list");
  const auto slots = layout.field("dtv_slotinfo_list_slotinfo");
  const auto slot_bytes = layout.size_of("dtv_slotinfo");
  if (!global || !head || !slots || !slot_bytes) return std::nullopt;
  auto list = layout.value("rtld_global__dl_tls_dtv_slotinfo_list", *global);
  for (size_t i = 0; list && *list != 0 && i < kSlotListsMax; ++i) {
    const auto count = layout.value("dtv_slotinfo_list_len", *list);
    if (!count) return std::nullopt;
    if (module < *count)
      return layout.value("dtv_slotinfo_gen", *list + slots->offset + module * *slot_bytes);
    module -= *count;
    list = layout.value("dtv_slotinfo_list_next", *list);
  }
  return std::nullopt;
}

Error not_yet() {
  return {Errc::NotFound, "the thread has no block for the module's variables yet", {}};
}
Error unreadable() { return {Errc::Target, "the thread's vector of blocks cannot be read", {}}; }

Result<uint64_t> block_of(const Layout& layout, uint64_t thread_pointer, uint64_t module) {
  const auto slot = layout.field("dtv_dtv");
  const auto dtv = layout.value("pthread_dtvp", thread_pointer);
  if (!slot || slot->bytes == 0 || !dtv) return unreadable();
  if (*dtv == 0) return not_yet();
  // The slot before the first counts them; the first has the generation.
  const auto slots = layout.value("dtv_t_counter", *dtv - slot->bytes);
  const auto now = layout.value("dtv_t_counter", *dtv);
  if (!slots || !now || *slots > kSlotsMax) return unreadable();
  const auto since = generation(layout, module);
  if (module > *slots || (since && *since > *now)) return not_yet();
  const auto block = layout.value("dtv_t_pointer_val", *dtv + slot->offset + module * slot->bytes);
  if (!block) return unreadable();
  if (*block == 0 || (*block & 1) != 0) return not_yet();  // ~0: unallocated
  return *block;
}

/// The program's own is right below where the thread pointer points to, in any C library (ELF
/// Handling For Thread-Local Storage, variant II): its code relies on that.
Result<uint64_t> block_below(const MainProgram& program, uint64_t thread_pointer) {
  const uint64_t alignment = std::max<uint64_t>(program.thread_local_alignment, 1);
  const uint64_t blocks = (program.thread_local_bytes + alignment - 1) / alignment;
  if (blocks == 0) return {Errc::NotFound, "the program has no thread-local variables"};
  return thread_pointer - blocks * alignment;
}

}  // namespace

Result<uint64_t> ThreadLocalBlocks::address(Tid tid, uint64_t link_map, uint64_t offset) {
  Thread* thread = threads_.find(tid);
  if (thread == nullptr || (thread->run != Run::Stopped && !thread->sample))
    return {Errc::NotFound, fmt::format("no thread {}", tid)};
  const user_regs_struct regs = thread->sample ? thread->sample->regs : regs_of(*thread);
  const AddressSpace& space = *thread->process->space;
  Budget budget(gives_up_);
  const Memory memory{space, budget, space.is_32_bit ? uint64_t{4} : uint64_t{8}};
  const auto auxv = read_proc(tid, "auxv");
  if (!auxv) return {Errc::Target, "no auxiliary vector"};
  const AuxValues values = parse_auxv(as_bytes(*auxv), space.is_32_bit);
  const MainProgram program = find_main_program(space, values, tid);
  const std::vector<LoadedObject> objects = loaded_objects(space, program);
  const Layout layout(memory, objects);
  if (budget.spent())
    return {Errc::Limit, fmt::format("the program's libraries have no end of symbols: more than {} "
                                     "reads, or the server is to end",
                                     kReadsMax)};
  const uint64_t pointer = space.is_32_bit ? regs.gs_base : regs.fs_base;
  const auto place = [&](uint64_t block) {
    return space.is_32_bit ? (block + offset) & UINT32_MAX : block + offset;
  };
  // A static program has a list of modules, or none.
  if (!layout.known() && (link_map == 0 || (!objects.empty() && objects[0].at == link_map))) {
    if (pointer == 0) return not_yet();
    TW_ASSIGN_OR_RETURN(const uint64_t block, block_below(program, pointer));
    return place(block);
  }
  if (!layout.known())
    return {Errc::Unsupported, "the program's C library does not say where its threads' data are"};
  const auto module = link_map == 0 ? uint64_t{1} : layout.value("link_map_l_tls_modid", link_map);
  if (!module || *module == 0) return {Errc::NotFound, "the module has no thread-local variables"};
  if (pointer == 0) return not_yet();
  TW_ASSIGN_OR_RETURN(const uint64_t block, block_of(layout, pointer, *module));
  return place(block);
}

}  // namespace tracewell::target::live
