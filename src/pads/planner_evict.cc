// Plans for short instructions among others, in which neighbours make room: they become jumps to
// copies of themselves, so that their bytes can be chosen. Their starts stay where they were, so
// nothing has to be known of who enters where.
#include <algorithm>

#include "pads/planner.h"

namespace tracewell::pads {
namespace {

/// A jump in two pieces has many solutions; they are looked for from so many places of the 4 GiB
/// that it can reach.
constexpr uint64_t kStarts = 16, kStartsInside = 4;
constexpr uint64_t kJumpReach = uint64_t{1} << 31;

constexpr uint8_t kShortJump = 0xeb, kNearJump = 0xe9;
constexpr uint64_t kShortJumpBytes = 2;
constexpr int64_t kBackMax = 128, kAheadMax = 127;
constexpr uint64_t kInstructionMax = 15;
constexpr uint8_t kNextPrefixesMax = 3;

/// The first byte of the next instruction's jump where it is the distance of a short jump as well:
/// the opcode, or a prefix without effect.
constexpr uint8_t kFirstBytes[] = {kNearJump, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65};

uint64_t start_of(uint64_t base, uint64_t number, uint64_t count) {
  const uint64_t lowest = base > kJumpReach ? base - kJumpReach : 0;
  return lowest + number * (2 * kJumpReach / count);
}

int64_t distance(uint64_t site, uint64_t to) {
  return static_cast<int64_t>(to - (site + kShortJumpBytes));
}

bool in_short_reach(uint64_t site, uint64_t to) {
  return distance(site, to) >= -kBackMax && distance(site, to) <= kAheadMax;
}

bool set_hop(Draft& draft, uint64_t site, uint64_t to) {
  return in_short_reach(site, to) && draft.set(site, kShortJump) &&
         draft.set(site + 1, static_cast<uint8_t>(distance(site, to)));
}

}  // namespace

/// To `padding_bytes` or more of padding; where they are fewer than five, the others are those of
/// whatever follows.
std::optional<Plan> Planner::short_jump(const Instruction& site, size_t padding_bytes) const {
  const uint64_t start = site.range.start;
  const uint64_t lowest = start + kShortJumpBytes - static_cast<uint64_t>(kBackMax);
  for (uint64_t at = lowest; in_short_reach(start, at); ++at) {
    if (!code_.padding(at)) continue;
    Draft draft(patches_);
    draft.release(site.range);
    if (draft.release_padding({at, at + 5}) < padding_bytes) continue;
    if (set_hop(draft, start, at) && draft.place(jump_of(at, 0, {site})))
      return draft.take(start, Kind::ShortJump);
  }
  return std::nullopt;
}

std::optional<Plan> Planner::successor(const Instruction& site) const {
  const Draft look(patches_);
  const size_t room = look.writable(site.range);
  if (room != site.range.end - site.range.start) return std::nullopt;
  const auto next = instruction(site.range.end);
  if (!next) return std::nullopt;
  const size_t next_room = look.writable(next->range);
  for (uint8_t prefixes = 0; prefixes < room; ++prefixes)
    for (uint8_t others = 0; others < next_room && others <= kNextPrefixesMax; ++others)
      if (auto plan = successor(site, *next, prefixes, others)) return plan;
  return std::nullopt;
}

std::optional<Plan> Planner::successor(const Instruction& site, const Instruction& next,
                                       uint8_t prefixes, uint8_t next_prefixes) const {
  const Jump first = jump_of(site.range.start, prefixes, {site});
  const Jump second = jump_of(next.range.start, next_prefixes, {next});
  uint64_t last = 0;
  for (uint64_t number = 0; number < kStarts; ++number) {
    Draft draft(patches_);
    draft.release(site.range);
    draft.release(next.range);
    if (!draft.begin(second)) return std::nullopt;
    // From the lowest on there is none, or from higher up it is the same again.
    if (!draft.place(first, start_of(site.range.end, number, kStarts))) break;
    if (draft.last_pad() == last) continue;
    last = draft.last_pad();
    if (draft.place(second)) return draft.take(site.range.start, Kind::Successor);
  }
  return std::nullopt;
}

bool Planner::place_inside(Draft& draft, const Instruction& site, const Instruction& victim,
                           uint64_t at, uint64_t from) const {
  const Jump instead = jump_of(victim.range.start, 0, {victim});
  return draft.begin(instead) && draft.place(jump_of(at, 0, {site}), from) &&
         draft.place(instead);
}

std::optional<Plan> Planner::neighbour(const Instruction& site, const Instruction& victim) const {
  const uint64_t start = site.range.start;
  const uint64_t room = Draft(patches_).writable(victim.range);
  for (uint64_t at = victim.range.start + 1; at < victim.range.start + room; ++at) {
    if (!in_short_reach(start, at)) continue;
    for (uint64_t number = 0; number < kStartsInside; ++number) {
      Draft draft(patches_);
      draft.release(site.range);
      draft.release(victim.range);
      if (!set_hop(draft, start, at)) break;
      if (place_inside(draft, site, victim, at, start_of(at, number, kStartsInside)))
        return draft.take(start, Kind::Neighbour);
    }
  }
  return std::nullopt;
}

/// Long ones first: they leave both jumps more choice.
std::optional<Plan> Planner::neighbour(const Instruction& site) const {
  const uint64_t start = site.range.start;
  if (Draft(patches_).writable(site.range) == 0) return std::nullopt;
  std::vector<Instruction> victims;
  const uint64_t lowest =
      start + kShortJumpBytes - static_cast<uint64_t>(kBackMax) - kInstructionMax;
  for (uint64_t at = lowest; in_short_reach(start, at) || at < start; ++at) {
    if (at == start || code_.length(at) < 2) continue;
    if (auto one = instruction(at)) victims.push_back(std::move(*one));
  }
  std::stable_sort(victims.begin(), victims.end(), [](const auto& a, const auto& b) {
    return a.range.end - a.range.start > b.range.end - b.range.start;
  });
  for (const Instruction& victim : victims)
    if (auto plan = neighbour(site, victim)) return plan;
  return std::nullopt;
}

/// A site of one byte: its short jump's distance is the first byte of the next instruction, which
/// is made a jump to its own copy for the sake of that byte.
std::optional<Plan> Planner::far_neighbour(const Instruction& site) const {
  if (Draft(patches_).writable(site.range) != 1) return std::nullopt;
  const auto next = instruction(site.range.start + 1);
  if (!next) return std::nullopt;
  for (const uint8_t first : kFirstBytes)
    if (auto plan = far_neighbour(site, *next, first)) return plan;
  return std::nullopt;
}

std::optional<Plan> Planner::far_neighbour(const Instruction& site, const Instruction& next,
                                           uint8_t first) const {
  const uint64_t start = site.range.start;
  const uint64_t at = start + kShortJumpBytes +
                      static_cast<uint64_t>(int64_t{static_cast<int8_t>(first)});
  const uint8_t prefixes = first == kNearJump ? 0 : 1;
  const auto victim = instruction_around(at);
  if (!victim || victim->range.meets(next.range) || victim->range.meets(site.range))
    return std::nullopt;
  for (uint64_t number = 0; number < kStarts; ++number) {
    Draft draft(patches_);
    draft.release(site.range);
    draft.release(next.range);
    draft.release(victim->range);
    if (!draft.set(start, kShortJump) || !draft.set(start + 1, first)) return std::nullopt;
    const Jump instead = jump_of(next.range.start, prefixes, {next});
    if (!draft.begin(instead)) return std::nullopt;
    if (place_inside(draft, site, *victim, at, start_of(at, number, kStarts)) &&
        draft.place(instead))
      return draft.take(start, Kind::Neighbour);
  }
  return std::nullopt;
}

}  // namespace tracewell::pads
