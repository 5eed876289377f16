#include "target/linux/memory/address_space.h"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include <fmt/format.h>

#include "base/endian.h"
#include "base/files/open.h"
#include "target/linux/fast/fast_code.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/kernel/descriptors.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kRemovedMax = 4096;

}  // namespace

AddressSpace::AddressSpace() = default;
AddressSpace::~AddressSpace() = default;

Result<std::shared_ptr<AddressSpace>> AddressSpace::open(Tid tid) {
  static SpareDescriptors spares;
  spares.refill();
  auto space = std::make_shared<AddressSpace>();
  const std::string path = fmt::format("/proc/{}/mem", tid);
  auto memory = open_named_to_write(path);
  if (!memory.ok() && access(path.c_str(), F_OK) == 0 && spares.give()) {
    memory = open_named_to_write(path);
    space->is_spare = true;
  }
  if (!memory.ok()) return {Errc::Target, memory.error().message};
  space->fd_ = *std::move(memory);
  if (const auto facts = facts_of(space->fd_.get(), path); facts.ok()) space->owner = facts->owner;
  space->is_32_bit = runs_32_bit_program(tid);
  return space;
}

size_t AddressSpace::read_raw(uint64_t address, std::span<uint8_t> into) const {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = pread(fd_.get(), into.data() + done, into.size() - done,
                              static_cast<off_t>(address + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

size_t AddressSpace::read(uint64_t address, std::span<uint8_t> into) const {
  const size_t got = read_raw(address, into);
  hide_patches(address, into.first(got));
  return got;
}

Status AddressSpace::write_raw(uint64_t address, Bytes bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = pwrite(fd_.get(), bytes.data() + done, bytes.size() - done,
                               static_cast<off_t>(address + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      return {Errc::Target, fmt::format("cannot write {} bytes of memory at 0x{:x}", bytes.size(),
                                        address)};
    }
    done += static_cast<size_t>(put);
  }
  return {};
}

Status AddressSpace::write(uint64_t address, Bytes bytes) {
  if (fast && fast->meets(address, bytes.size()))
    return {Errc::Target, fmt::format("code with fast tracepoints at 0x{:x} cannot be written to "
                                      "while the trace runs", address)};
  // All or nothing: what was there goes back when the end cannot be written.
  std::vector<uint8_t> was(bytes.size());
  if (read_raw(address, was) != was.size())
    return {Errc::Target, fmt::format("cannot access memory at 0x{:x}", address)};
  std::vector<uint8_t> now(bytes.begin(), bytes.end());
  const auto in_range = [&](uint64_t at) { return at - address < bytes.size(); };
  for (const auto& [at, patch] : patches_)
    if (in_range(at)) now[at - address] = was[at - address];
  if (Status status = write_raw(address, now); !status.ok()) {
    for (size_t i = 0; i < was.size(); ++i)
      if (was[i] != now[i]) best_effort(write_raw(address + i, Bytes(was).subspan(i, 1)));
    return status;
  }
  for (auto& [at, patch] : patches_) {
    if (in_range(at)) patch.original = bytes[at - address];
    // The instruction there may be another one now.
    if (at < address + bytes.size() && at + kInstructionMax > address) patch.how.reset();
  }
  return {};
}

std::string AddressSpace::read_text(uint64_t address, size_t max) const {
  std::vector<uint8_t> bytes(max);
  bytes.resize(read(address, bytes));
  const std::string text(as_text(bytes));
  return text.substr(0, text.find('\0'));
}

std::pair<uint64_t, uint64_t> AddressSpace::changed_range() const {
  auto [from, to] = fast ? fast->changed_range() : std::pair(UINT64_MAX, uint64_t{0});
  if (!patches_.empty()) {
    from = std::min(from, patches_.begin()->first);
    to = std::max(to, patches_.rbegin()->first + 1);
  }
  return from < to ? std::pair(from, to) : std::pair<uint64_t, uint64_t>();
}

bool AddressSpace::is_changed(uint64_t address, uint64_t bytes) const {
  return has_patch(address, bytes) || (fast && fast->meets(address, bytes));
}

void AddressSpace::hide_patches(uint64_t address, std::span<uint8_t> bytes) const {
  if (bytes.empty()) return;
  if (fast) fast->hide(address, bytes);
  for (auto it = patches_.lower_bound(address);
       it != patches_.end() && it->first - address < bytes.size(); ++it)
    bytes[it->first - address] = it->second.original;
}

Patch* AddressSpace::find(uint64_t address) {
  const auto it = patches_.find(address);
  return it == patches_.end() ? nullptr : &it->second;
}

bool AddressSpace::has_patch(uint64_t address, uint64_t bytes) const {
  const auto found = patches_.lower_bound(address);
  return found != patches_.end() && found->first - address < bytes;
}

Result<Patch*> AddressSpace::add(uint64_t address) {
  if (Patch* old = find(address)) return old;
  uint8_t original = 0;
  if (read_raw(address, {&original, 1}) != 1)
    return {Errc::Target, fmt::format("cannot access memory at 0x{:x}", address)};
  TW_RETURN_IF_ERROR(write_raw(address, {&kInt3, 1}));
  Patch patch;
  patch.original = original;
  removed_.erase(address);
  return &(patches_[address] = patch);
}

void AddressSpace::restore(uint64_t address, uint8_t original) {
  uint8_t now = 0;
  if (read_raw(address, {&now, 1}) == 1 && now == kInt3)
    best_effort(write_raw(address, {&original, 1}));
}

bool AddressSpace::is_in_force(uint64_t address) const {
  uint8_t now = kInt3;
  return read_raw(address, {&now, 1}) != 1 || now == kInt3;  // what is gone has no hits
}

Status AddressSpace::drop_if_unused(uint64_t address) {
  const auto it = patches_.find(address);
  if (it == patches_.end() || it->second.breakpoint || it->second.site) return {};
  restore(address, it->second.original);
  keep_removed(address, it->second.original);
  patches_.erase(it);
  return {};
}

void AddressSpace::keep_removed(uint64_t address, uint8_t original) {
  if (removed_.size() < kRemovedMax) removed_[address] = original;
}

Status AddressSpace::expose(uint64_t address, bool exposed) {
  const Patch* patch = find(address);
  if (patch == nullptr) return {};
  return write_raw(address, {exposed ? &patch->original : &kInt3, 1});
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
  for (const auto& [address, patch] : patches_) {
    restore(address, patch.original);
    keep_removed(address, patch.original);
  }
  patches_.clear();
}

bool AddressSpace::has_left_traps() const {
  return fast != nullptr || !patches_.empty() || !removed_.empty() || !raised_.empty() ||
         !lowered_.empty();
}

size_t AddressSpace::traps_in(const AddressSpace& copy) const {
  const auto is_trap = [&](const auto& one) {
    uint8_t now = 0;
    return copy.read_raw(one.first, {&now, 1}) == 1 && now == kInt3;
  };
  return static_cast<size_t>(std::ranges::count_if(patches_, is_trap) +
                             std::ranges::count_if(removed_, is_trap)) +
         (fast != nullptr ? fast->count_in(copy) : 0);
}

void AddressSpace::adopt_from_fork(const AddressSpace& parent, bool keep_breakpoints) {
  if (parent.fast) {
    parent.fast->remove_from(*this);
    for (const FastCode::Mapped& one : parent.fast->mapped)
      inherited.push_back({one.start, one.bytes, one.shared});
  }
  for (const auto& [address, original] : parent.removed_) restore(address, original);
  for (const auto& [address, patch] : parent.patches_) {
    if (!keep_breakpoints || !patch.breakpoint) {
      restore(address, patch.original);
      continue;
    }
    Patch& kept = patches_[address];
    kept.original = patch.original;
    kept.breakpoint = true;
    best_effort(write_raw(address, {&kInt3, 1}));
  }
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
