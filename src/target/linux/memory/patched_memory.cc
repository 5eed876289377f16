#include "target/linux/memory/patched_memory.h"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include <fmt/format.h>

namespace tracewell::target::live {
namespace {

constexpr size_t kRemovedMax = 4096;

}  // namespace

size_t PatchedMemory::read_raw(uint64_t address, std::span<uint8_t> into) const {
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

size_t PatchedMemory::read(uint64_t address, std::span<uint8_t> into) const {
  const size_t got = read_raw(address, into);
  hide_patches(address, into.first(got));
  return got;
}

Status PatchedMemory::write_raw(uint64_t address, Bytes bytes) {
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

Status PatchedMemory::write(uint64_t address, Bytes bytes) {
  if (covered.meet(address, bytes.size()))
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

std::string PatchedMemory::read_text(uint64_t address, size_t max) const {
  std::vector<uint8_t> bytes(max);
  bytes.resize(read(address, bytes));
  const std::string text(as_text(bytes));
  return text.substr(0, text.find('\0'));
}

std::pair<uint64_t, uint64_t> PatchedMemory::changed_range() const {
  uint64_t from = UINT64_MAX, to = 0;
  if (!covered.empty()) {
    const auto& [last, written] = *covered.all().rbegin();
    from = covered.all().begin()->first;
    to = last + written.size;
  }
  if (!patches_.empty()) {
    from = std::min(from, patches_.begin()->first);
    to = std::max(to, patches_.rbegin()->first + 1);
  }
  return from < to ? std::pair(from, to) : std::pair<uint64_t, uint64_t>();
}

bool PatchedMemory::is_as_written(uint64_t address, const Covered& code) const {
  std::vector<uint8_t> now(code.ours.size());
  now.resize(read_raw(address, now));
  return now == code.ours;
}

bool PatchedMemory::is_changed(uint64_t address, uint64_t bytes) const {
  return has_patch(address, bytes) || covered.meet(address, bytes);
}

void PatchedMemory::hide_patches(uint64_t address, std::span<uint8_t> bytes) const {
  if (bytes.empty()) return;
  covered.each_meeting(address, bytes.size(), [&](uint64_t at, const Covered& one) {
    for (size_t i = 0; i < one.before.size(); ++i)
      if (at + i - address < bytes.size()) bytes[at + i - address] = one.before[i];
  });
  for (auto it = patches_.lower_bound(address);
       it != patches_.end() && it->first - address < bytes.size(); ++it)
    bytes[it->first - address] = it->second.original;
}

Patch* PatchedMemory::find(uint64_t address) {
  const auto it = patches_.find(address);
  return it == patches_.end() ? nullptr : &it->second;
}

bool PatchedMemory::has_patch(uint64_t address, uint64_t bytes) const {
  const auto found = patches_.lower_bound(address);
  return found != patches_.end() && found->first - address < bytes;
}

Result<Patch*> PatchedMemory::add(uint64_t address) {
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

void PatchedMemory::restore(uint64_t address, uint8_t original) {
  uint8_t now = 0;
  if (read_raw(address, {&now, 1}) == 1 && now == kInt3)
    best_effort(write_raw(address, {&original, 1}));
}

bool PatchedMemory::is_in_force(uint64_t address) const {
  uint8_t now = kInt3;
  return read_raw(address, {&now, 1}) != 1 || now == kInt3;  // what is gone has no hits
}

Status PatchedMemory::drop_if_unused(uint64_t address) {
  const auto it = patches_.find(address);
  if (it == patches_.end() || it->second.breakpoint || it->second.site) return {};
  restore(address, it->second.original);
  keep_removed(address, it->second.original);
  patches_.erase(it);
  return {};
}

void PatchedMemory::keep_removed(uint64_t address, uint8_t original) {
  if (removed_.size() < kRemovedMax) removed_[address] = original;
}

Status PatchedMemory::expose(uint64_t address, bool exposed) {
  const Patch* patch = find(address);
  if (patch == nullptr) return {};
  return write_raw(address, {exposed ? &patch->original : &kInt3, 1});
}

void PatchedMemory::remove_patches() {
  for (const auto& [address, patch] : patches_) {
    restore(address, patch.original);
    keep_removed(address, patch.original);
  }
  patches_.clear();
}

size_t PatchedMemory::traps_in(const PatchedMemory& copy) const {
  const auto is_trap = [&](const auto& one) {
    uint8_t now = 0;
    return copy.read_raw(one.first, {&now, 1}) == 1 && now == kInt3;
  };
  const auto is_there = [&](const auto& one) {
    return copy.is_as_written(one.first, one.second.what);
  };
  return static_cast<size_t>(std::ranges::count_if(patches_, is_trap) +
                             std::ranges::count_if(removed_, is_trap) +
                             std::ranges::count_if(covered.all(), is_there));
}

void PatchedMemory::adopt_patches(const PatchedMemory& parent, bool keep_breakpoints) {
  for (const auto& [address, code] : parent.covered.all())
    if (is_as_written(address, code.what)) best_effort(write_raw(address, code.what.before));
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
}

}  // namespace tracewell::target::live
