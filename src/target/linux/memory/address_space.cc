#include "target/linux/memory/address_space.h"

#include <algorithm>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "base/endian.h"
#include "base/files/open.h"
#include "target/linux/fast/fast_code.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/kernel/descriptors.h"

namespace tracewell::target::live {

AddressSpace::AddressSpace() = default;
AddressSpace::AddressSpace(UniqueFd memory) : PatchedMemory(std::move(memory)) {}
AddressSpace::~AddressSpace() = default;

Result<std::shared_ptr<AddressSpace>> AddressSpace::open(Tid tid) {
  static SpareDescriptors spares;
  spares.refill();
  const std::string path = fmt::format("/proc/{}/mem", tid);
  auto memory = open_named_to_write(path);
  const bool is_spare = !memory.ok() && access(path.c_str(), F_OK) == 0 && spares.give();
  if (is_spare) memory = open_named_to_write(path);
  if (!memory.ok()) return {Errc::Target, memory.error().message};
  const auto facts = facts_of(memory->get(), path);
  auto space = std::make_shared<AddressSpace>(*std::move(memory));
  space->is_spare = is_spare;
  if (facts.ok()) space->owner = facts->owner;
  space->is_32_bit = runs_32_bit_program(tid);
  return space;
}

bool AddressSpace::change_count(uint64_t address, bool raise) {
  uint8_t bytes[2];
  if (read(address, bytes) != sizeof bytes) return false;
  const uint64_t count = load_uint(bytes, sizeof bytes, Endian::Little);
  if (!raise && count == 0) return false;
  store_uint(bytes, raise ? count + 1 : count - 1, sizeof bytes, Endian::Little);
  return write(address, bytes).ok();
}

void AddressSpace::raise(uint64_t address) {
  if (change_count(address, true)) ++raised_[address];
  lowered_.erase(address);
}

void AddressSpace::lower(uint64_t address) {
  const auto it = raised_.find(address);
  if (it == raised_.end()) return;
  if (change_count(address, false)) ++lowered_[address];
  if (--it->second == 0) raised_.erase(it);
}

/// A copy that was made before they were lowered here has so many more.
void AddressSpace::lower_as(const AddressSpace& parent) {
  for (const auto& [address, times] : parent.lowered_) {
    const auto theirs = parent.read_value<uint16_t>(address), ours = read_value<uint16_t>(address);
    if (!theirs || !ours || *ours != *theirs + times) continue;
    for (uint32_t i = 0; i < times; ++i) change_count(address, false);
  }
}

void AddressSpace::lower_all() {
  while (!raised_.empty()) lower(raised_.begin()->first);
}

void AddressSpace::remove_all() {
  lower_all();
  remove_patches();
}

bool AddressSpace::has_left_traps() const {
  return fast != nullptr || has_left_patches() || !raised_.empty() || !lowered_.empty();
}

void AddressSpace::adopt_from_fork(const AddressSpace& parent, bool keep_breakpoints) {
  if (parent.fast)
    for (const FastCode::Mapped& one : parent.fast->mapped)
      inherited.push_back({one.start, one.bytes, one.shared});
  adopt_patches(parent, keep_breakpoints);
  lower_as(parent);
  raised_ = parent.raised_;
  lower_all();
  lowered_.clear();
  arenas_ = parent.arenas_;
  system_call_at = parent.system_call_at;
  cannot_map = parent.cannot_map;
}

bool AddressSpace::may_return_into_hit(uint64_t pc) const {
  return fast == nullptr || fast->stays_inside || fast->has_handler || fast->inside(pc);
}

const PlacedCopy* AddressSpace::copy_at(uint64_t pc) const {
  for (const Arena& arena : arenas_) {
    const uint64_t offset = pc - arena.start;
    if (offset >= arena.size) continue;
    const size_t slot = offset / kSlotBytes;
    return slot < arena.slots.size() ? &arena.slots[slot] : nullptr;
  }
  return nullptr;
}

const PlacedCopy* AddressSpace::find_copy(uint64_t site, Bytes original,
                                          bool in_32_bit_code) const {
  for (const Arena& arena : arenas_)
    for (const PlacedCopy& copy : arena.slots)
      if (copy.site == site && copy.in_32_bit_code == in_32_bit_code &&
          std::equal(copy.original.begin(), copy.original.end(), original.begin(),
                     original.end()))
        return &copy;
  return nullptr;
}

}  // namespace tracewell::target::live
