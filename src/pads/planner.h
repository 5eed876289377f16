// Planner: finds a plan for a site, given the plans that hold already.
//
// Sites are best planned from the highest address down: a displacement whose last bytes are those
// of the next instruction's jump is as good as any, and the other way round that instruction could
// not be written any more. (arrange.h plans anew what is in the way.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pads/code.h"
#include "pads/draft.h"
#include "pads/patches.h"
#include "pads/plan.h"

namespace tracewell::pads {

/// Pure: it changes nothing. The patches must outlive it.
class Planner {
 public:
  explicit Planner(const Patches& patches) : code_(patches.code()), patches_(patches) {}
  /// One that knows no other kinds of pads than this, to see what it is worth.
  Planner(const Patches& patches, Kind only)
      : code_(patches.code()), patches_(patches), only_(only) {}

  /// The best kind that can be had, in the order of Kind; a rider comes first where the instruction
  /// is copied anyway. To be taken by Patches::add() before the next one is planned.
  Plan plan(uint64_t site) const;

 private:
  struct Instruction {
    Range range;
    uint32_t copy_bytes = 0;      // of its copy, with a jump back
    std::vector<uint64_t> names;  // addresses that the copy must reach
    bool ends = false;            // never goes on behind itself
    uint32_t slots = 1;           // that may stand ahead of its copy
  };
  using Run = std::vector<Instruction>;

  /// nullopt when none starts there that may be copied.
  std::optional<Instruction> instruction(uint64_t address) const;
  /// The one that the address is strictly inside of.
  std::optional<Instruction> instruction_around(uint64_t address) const;
  Jump jump_of(uint64_t at, uint8_t prefixes, const Run& moved) const;

  std::optional<Plan> rider(uint64_t site) const;
  std::optional<Plan> pad(const Instruction& site) const;
  std::optional<Plan> several(const Instruction& site) const;
  std::optional<Plan> several(const Run& run, uint8_t last_guard) const;
  std::optional<Plan> short_jump(const Instruction& site, size_t padding_bytes) const;
  std::optional<Plan> punned(const Instruction& site, Kind kind) const;
  std::optional<Plan> successor(const Instruction& site) const;
  std::optional<Plan> successor(const Instruction& site, const Instruction& next,
                                uint8_t prefixes, uint8_t next_prefixes) const;
  std::optional<Plan> neighbour(const Instruction& site) const;
  std::optional<Plan> neighbour(const Instruction& site, const Instruction& victim) const;
  std::optional<Plan> far_neighbour(const Instruction& site) const;
  std::optional<Plan> far_neighbour(const Instruction& site, const Instruction& next,
                                    uint8_t first) const;
  /// The site's jump stands at `at`, inside the victim.
  bool place_inside(Draft& draft, const Instruction& site, const Instruction& victim, uint64_t at,
                    uint64_t from) const;
  Plan behind_endbr(uint64_t site) const;

  const Code& code_;
  const Patches& patches_;
  std::optional<Kind> only_;
};

}  // namespace tracewell::pads
