// Patches: the plans that hold in one program at a time, what its bytes are with all of them, and
// which plans need which others to stay.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "pads/code.h"
#include "pads/plan.h"
#include "pads/space.h"

namespace tracewell::pads {

/// Not shared between threads. Plans nothing by itself; planner.h does.
class Patches {
 public:
  /// `slot_bytes`: the most that a site puts into a pad. `spread`: any number; with another one,
  /// pads come to be at other places. The code must outlive this.
  Patches(const Code& code, PadSpace space, uint32_t slot_bytes, uint32_t spread = 0)
      : code_(&code), space_(std::move(space)), slot_(slot_bytes), spread_(spread) {}

  struct Byte {
    uint64_t owner = 0;    // the site of the plan that writes or moves it
    bool written = false;  // `value` stands there
    bool moved = false;    // part of an instruction that is copied into a pad
    uint8_t value = 0;
    std::vector<uint64_t> relied;  // the sites of plans that need it to stay as it is
  };
  /// nullptr when no plan has anything to do with it.
  const Byte* byte(uint64_t address) const;
  bool free(uint64_t address) const { return byte(address) == nullptr; }
  /// What the program has there, patches included; nullopt outside of the code.
  std::optional<uint8_t> value(uint64_t address) const;

  struct Entry {
    Plan plan;
    std::set<uint64_t> slots;  // sites that want theirs in the plan's pads: itself, and riders
  };
  /// By the plan's own site. It may be there without wanting a slot any more.
  const Entry* find(uint64_t site) const;
  /// The plan that serves the site, itself or as the host of a rider; nullptr when none does.
  const Entry* serving(uint64_t site) const;
  /// Some plan whose patch or relied bytes meet the range: what a debugger wants to know before it
  /// puts a breakpoint there. nullptr when none does.
  const Entry* meeting(Range range) const;

  /// Whether it could be taken: false when it was made for another state of these patches.
  bool add(const Plan& plan);

  struct Removal {
    std::vector<Plan> gone;         // put the original bytes back in place of their writes
    std::vector<uint64_t> changed;  // plans that stay, and want fewer slots in their pads
  };
  /// The site wants no slot any more. A plan that other plans rely on stays until they are gone,
  /// its pad doing no more than what the program did.
  Removal remove(uint64_t site);

  const Code& code() const { return *code_; }
  /// Behind the last pad that might have stood anywhere: a good place to look for room for another
  /// one. 0 = there was none.
  uint64_t behind_last() const { return behind_last_; }
  const PadSpace& space() const { return space_; }
  PadSpace& space() { return space_; }
  uint32_t slot_bytes() const { return slot_; }
  uint32_t spread() const { return spread_; }
  size_t size() const { return entries_.size(); }

 private:
  bool fits(const Plan& plan) const;
  bool add_rider(const Plan& plan);
  bool needed(const Plan& plan) const;
  /// Returns the plans that it relied on.
  std::set<uint64_t> take_out(const Plan& plan);
  const Code* code_;
  PadSpace space_;
  uint32_t slot_, spread_;
  uint64_t behind_last_ = 0;
  std::map<uint64_t, Entry> entries_;
  std::map<uint64_t, uint64_t> riders_;  // site, host
  std::unordered_map<uint64_t, Byte> bytes_;
};

}  // namespace tracewell::pads
