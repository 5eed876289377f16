// Plans made real in this very process: bytes are written over its code, pads are mapped where the
// plans want them, and count their hits. For a forked child, which may be lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/mman.h>

#include "base/check.h"
#include "pad_runs/child.h"
#include "pad_runs/loaded_image.h"
#include "pads/arrange.h"
#include "pads/emit.h"
#include "pads/patches.h"
#include "pads/planner.h"

namespace tracewell::pads {

constexpr uint32_t kSlotBytesMost = 24;

/// Byte by byte: memcpy may be what is being patched.
inline void put(uint64_t address, Bytes bytes) {
  auto* to = reinterpret_cast<volatile uint8_t*>(address);
  for (size_t i = 0; i < bytes.size(); ++i) to[i] = bytes[i];
}

class Patcher {
 public:
  using MakeSlot = std::function<std::vector<uint8_t>(uint64_t site)>;

  /// Without `make_slot`, slots count their hits. One of its own has at most as many bytes.
  Patcher(const Code& code, const std::vector<uint64_t>& sites, std::optional<Kind> only = {},
          MakeSlot make_slot = {})
      : code_(code), patches_(code, PadSpace(taken_here()), kSlotBytesMost),
        planner_(only ? Planner(patches_, *only) : Planner(patches_)),
        sites_(sites), make_slot_(std::move(make_slot)) {
    const Range all = code.range();
    const uint64_t start = all.start & ~(PadSpace::kPageBytes - 1);
    TW_CHECK(mprotect(reinterpret_cast<void*>(start), all.end - start,
                      PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
  }

  /// Plans the site and installs the plan, unless it is no pad.
  Plan install(uint64_t site) {
    Plan plan = prepare(site);
    if (plan.is_pad()) apply(plan);
    return plan;
  }
  /// Plans the site, and maps memory for its pads.
  Plan prepare(uint64_t site) {
    for (int tries = 0; tries < 32; ++tries) {
      Plan plan = planner_.plan(site);
      if (map_pads(plan)) return plan;
    }
    Plan none;
    none.why = "memory for pads cannot be mapped";
    return none;
  }
  /// Gives the site a pad or a trap, whoever has to make room.
  void admit(uint64_t site) {
    if (const Plan alone = prepare(site); alone.kind != Kind::None) return apply(alone);
    Change change;
    for (int tries = 0; change.come.empty(); ++tries) {
      TW_CHECK(tries < 32);
      Patches trial = patches_;
      change = pads::admit(trial, site);
      if (std::all_of(change.come.begin(), change.come.end(),
                      [this](const Plan& plan) { return map_pads(plan); }))
        patches_ = std::move(trial);
      else
        change.come.clear();
    }
    for (const Plan& plan : change.gone) put_back(plan);
    for (const Plan& plan : change.come)
      write_pads(plan.kind == Kind::Rider ? plan.host : plan.site);
    for (const uint64_t changed : change.changed) write_pads(changed);
    for (const Plan& plan : change.come)
      for (const Write& write : plan.writes) put(write.address, write.bytes);
  }
  void apply(const Plan& plan) {
    TW_CHECK(patches_.add(plan));
    write_pads(plan.kind == Kind::Rider ? plan.host : plan.site);
    for (const Write& write : plan.writes) put(write.address, write.bytes);
  }
  void remove(uint64_t site) {
    const Patches::Removal removal = patches_.remove(site);
    for (const Plan& plan : removal.gone) put_back(plan);
    for (const uint64_t changed : removal.changed) write_pads(changed);
  }
  bool is_original() const {
    const Range all = code_.range();
    return std::memcmp(reinterpret_cast<const void*>(all.start), code_.bytes_at(all.start).data(),
                       all.end - all.start) == 0;
  }

  const PadPoint* point_at(uint64_t pc) const {
    for (const auto& [site, pads] : pads_)
      for (const Pad& pad : pads)
        if (const PadPoint* point = pad.find(pc)) {
          const bool exact = point->slot || pad.address + point->offset == pc;
          return exact ? point : nullptr;
        }
    return nullptr;
  }
  std::optional<uint64_t> entry_of(uint64_t pc) const {
    for (const auto& [site, pads] : pads_)
      for (const Pad& pad : pads)
        if (const auto at = pad.entry_of(pc)) return at;
    return std::nullopt;
  }
  const std::vector<Pad>& pads_of(uint64_t site) const { return pads_.at(site); }
  const Patches& patches() const { return patches_; }
  size_t number(uint64_t site) const {
    return static_cast<size_t>(std::lower_bound(sites_.begin(), sites_.end(), site) -
                               sites_.begin());
  }
  uint64_t hits(uint64_t site) const { return Shared::get().counters[number(site)]; }

 private:
  void put_back(const Plan& plan) {
    for (const Write& write : plan.writes)
      put(write.address, code_.bytes_at(write.address).first(write.bytes.size()));
    pads_.erase(plan.site);
  }
  bool map(Range range) {
    const uint64_t last = PadSpace::kPageBytes - 1;
    for (uint64_t page = range.start & ~last; page < range.end; page += PadSpace::kPageBytes) {
      if (pages_.contains(page)) continue;
      void* got = mmap(reinterpret_cast<void*>(page), PadSpace::kPageBytes,
                       PROT_READ | PROT_WRITE | PROT_EXEC,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got != reinterpret_cast<void*>(page)) {
        patches_.space().refuse({page, page + 1});
        return false;
      }
      pages_.insert(page);
    }
    return true;
  }
  bool map_pads(const Plan& plan) {
    for (const Jump& jump : plan.jumps)
      if (!map(jump.pad_range())) return false;
    return true;
  }
  /// lea -128(%rsp),%rsp; pushfq; incq counter; popfq; lea 128(%rsp),%rsp
  std::vector<uint8_t> counting(uint64_t site) const {
    const auto counter = static_cast<uint32_t>(
        reinterpret_cast<uint64_t>(&Shared::get().counters[number(site)]));
    std::vector<uint8_t> code = {0x48, 0x8d, 0x64, 0x24, 0x80, 0x9c, 0x48, 0xff, 0x04, 0x25};
    for (int shift = 0; shift < 32; shift += 8) code.push_back(uint8_t(counter >> shift));
    code.insert(code.end(), {0x9d, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0});
    return code;
  }
  void write_pads(uint64_t site) {
    const Patches::Entry& entry = *patches_.find(site);
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<Slot> slots;
    for (const uint64_t wanting : entry.slots) {
      bytes.push_back(make_slot_ ? make_slot_(wanting) : counting(wanting));
      slots.push_back({wanting, bytes.back()});
    }
    std::vector<Pad> pads;
    for (size_t i = 0; i < entry.plan.jumps.size(); ++i) {
      auto pad = emit(code_, entry.plan, i, slots);
      if (!pad.ok()) std::fprintf(stderr, "%s\n", pad.error().text().c_str());
      put(pad->address, pad->code);
      pads.push_back(*std::move(pad));
    }
    pads_[site] = std::move(pads);
  }

  const Code& code_;
  Patches patches_;
  Planner planner_;
  std::vector<uint64_t> sites_;
  MakeSlot make_slot_;
  std::set<uint64_t> pages_;
  std::map<uint64_t, std::vector<Pad>> pads_;
};

}  // namespace tracewell::pads
