#include "pads/planner.h"

#include <algorithm>

#include "machine/code_instruction.h"
#include "machine/relocate.h"
#include "pads/emit.h"

namespace tracewell::pads {
namespace {

using machine::CodeInstruction;
using machine::DisplacedCode;
using Flow = CodeInstruction::Flow;

constexpr size_t kJumpBytes = 5;
constexpr uint64_t kReach = uint64_t{1} << 31;
/// What may stand where a thread is not to go on: int3, and for the displacement's sign byte those
/// opcodes that 64-bit code does not have, some of which make it positive. (Not the ones that were
/// given a new meaning: 62, c4, c5, d5.)
constexpr uint8_t kGuard = 0xcc;
constexpr uint8_t kSignGuards[] = {0xcc, 0x06, 0x0e, 0x16, 0x1e, 0x27, 0x2f,
                                   0x37, 0x3f, 0x9a, 0xce, 0xd4, 0xea};

Plan without_pad(uint64_t site, std::string why) {
  Plan plan;
  plan.site = site;
  plan.kind = Kind::Trap;
  plan.why = std::move(why);
  plan.writes = {{site, {0xcc}}};
  return plan;
}

Plan impossible(uint64_t site, uint64_t blocker, std::string why) {
  Plan plan;
  plan.site = site;
  plan.host = blocker;
  plan.why = std::move(why);
  return plan;
}

}  // namespace

std::optional<Planner::Instruction> Planner::instruction(uint64_t address) const {
  if (!code_.starts(address)) return std::nullopt;
  const Bytes bytes = code_.bytes_at(address);
  const CodeInstruction one = machine::decode_code(bytes, address);
  if (one.flow == Flow::System || one.flow == Flow::Stop || one.endbr) return std::nullopt;
  const DisplacedCode copy = machine::displace_x86_64(bytes, address, address);
  if (copy.how != DisplacedCode::How::Copy) return std::nullopt;
  Instruction out;
  out.range = {address, address + one.length};
  for (uint64_t at = address; at < out.range.end; ++at) {
    const Patches::Byte* byte = patches_.byte(at);
    if (byte != nullptr && (byte->written || byte->moved)) return std::nullopt;
  }
  out.copy_bytes = static_cast<uint32_t>(copy.code.size());
  out.ends = one.ends();
  out.names.push_back(out.range.end);
  if (one.target) out.names.push_back(*one.target);
  if (one.named) out.names.push_back(*one.named);
  return out;
}

std::optional<Planner::Instruction> Planner::instruction_around(uint64_t address) const {
  for (uint64_t back = 1; back < 15; ++back) {
    const uint8_t length = code_.length(address - back);
    if (length == 0) continue;
    return length > back ? instruction(address - back) : std::nullopt;
  }
  return std::nullopt;
}

/// With room for a slot at each instruction: what is a site, or becomes one, then needs no other
/// pad.
Jump Planner::jump_of(uint64_t at, uint8_t prefixes, const Run& moved) const {
  Jump jump;
  jump.at = at;
  jump.prefixes = prefixes;
  for (const Instruction& one : moved) {
    jump.moved.push_back(
        {one.range.start, static_cast<uint8_t>(one.range.end - one.range.start)});
    jump.pad_bytes +=
        one.slots * (kSlotAlignment - 1 + patches_.slot_bytes()) + one.copy_bytes;
  }
  jump.window = {PadSpace::kLowest, PadSpace::kHighest};
  // Wherever in the pad the copy is. A name that is out of reach of the original is so here.
  const uint64_t reach = kReach - jump.pad_bytes;
  for (const Instruction& one : moved)
    for (const uint64_t name : one.names) {
      if (name > reach) jump.window.start = std::max(jump.window.start, name - reach);
      jump.window.end = std::min(jump.window.end, name + reach);
    }
  return jump;
}

std::optional<Plan> Planner::rider(uint64_t site) const {
  Plan plan;
  plan.site = site;
  plan.kind = Kind::Rider;
  if (patches_.find(site) != nullptr) {
    plan.host = site;
    return plan;
  }
  const Patches::Byte* byte = patches_.byte(site);
  if (byte == nullptr || !byte->moved) return std::nullopt;
  const Plan& host = patches_.find(byte->owner)->plan;
  if (!host.copies(site)) return std::nullopt;
  plan.host = host.site;
  return plan;
}

std::optional<Plan> Planner::pad(const Instruction& site) const {
  const auto tried = [this](Kind kind) { return !only_ || *only_ == kind; };
  std::optional<Plan> plan;
  if (tried(Kind::Direct)) plan = punned(site, Kind::Direct);
  if (!plan && tried(Kind::Several)) plan = several(site);
  if (!plan && tried(Kind::ShortJump)) plan = short_jump(site, kJumpBytes);
  if (!plan && tried(Kind::Punned)) plan = punned(site, Kind::Punned);
  if (!plan && tried(Kind::Successor)) plan = successor(site);
  if (!plan && tried(Kind::ShortJump)) plan = short_jump(site, 1);
  if (!plan && tried(Kind::Neighbour)) plan = neighbour(site);
  if (!plan && tried(Kind::Neighbour)) plan = far_neighbour(site);
  return plan;
}

/// Instructions from the site on until there are five bytes. Behind one that goes elsewhere, bytes
/// that nobody executes will do.
std::optional<Plan> Planner::several(const Instruction& site) const {
  const uint64_t enough = site.range.start + kJumpBytes;
  Run run = {site};
  while (run.back().range.end < enough && !run.back().ends) {
    const uint64_t next = run.back().range.end;
    if (code_.entered(next)) return std::nullopt;
    auto one = instruction(next);
    if (!one) return std::nullopt;
    run.push_back(std::move(*one));
  }
  const bool sign_is_guard = std::any_of(run.begin() + 1, run.end(), [&](const Instruction& one) {
    return one.range.start == enough - 1;
  });
  if (!sign_is_guard) return several(run, 0);
  for (const uint8_t guard : kSignGuards)
    if (auto plan = several(run, guard)) return plan;
  return std::nullopt;
}

std::optional<Plan> Planner::several(const Run& run, uint8_t last_guard) const {
  Draft draft(patches_);
  const uint64_t start = run.front().range.start, enough = start + kJumpBytes;
  uint64_t end = start;
  for (const Instruction& one : run) {
    const Range needed{one.range.start, std::min(one.range.end, enough)};
    if (draft.writable(needed) != needed.end - needed.start) return std::nullopt;
    draft.release(needed);
    end = needed.end;
  }
  if (end < enough && end + draft.release_padding({end, enough}) != enough) return std::nullopt;
  std::vector<uint64_t> guards;
  for (size_t i = 1; i < run.size(); ++i) {
    const uint64_t at = run[i].range.start;
    guards.push_back(at);
    if (!draft.set(at, at == enough - 1 ? last_guard : kGuard)) return std::nullopt;
  }
  if (!draft.place(jump_of(start, 0, run))) return std::nullopt;
  Plan plan = draft.take(start, Kind::Several);
  plan.guards = std::move(guards);
  return plan;
}

/// Direct is the case in which nothing is fixed.
std::optional<Plan> Planner::punned(const Instruction& site, Kind kind) const {
  const size_t room = Draft(patches_).writable(site.range);
  if (kind == Kind::Direct && room < kJumpBytes) return std::nullopt;
  const size_t prefixes_end = kind == Kind::Direct ? 1 : room;
  for (size_t prefixes = 0; prefixes < prefixes_end; ++prefixes) {
    Draft draft(patches_);
    draft.release(site.range);
    const Jump jump = jump_of(site.range.start, static_cast<uint8_t>(prefixes), {site});
    if (draft.place(jump)) return draft.take(site.range.start, kind);
  }
  return std::nullopt;
}

/// An endbr64 stays, for the processor wants it there. The jump comes behind it, if all who come
/// there come from it.
Plan Planner::behind_endbr(uint64_t site) const {
  const uint64_t next = site + code_.length(site);
  auto one = instruction(next);
  if (code_.entered(next) || !one || !patches_.free(next))
    return without_pad(site, "it is an endbr64, and a jump cannot stand behind it");
  one->slots = 2;  // its own, should it become a site, and that of the endbr64
  auto plan = pad(*one);
  if (!plan) return without_pad(site, "it is an endbr64, and no jump fits behind it");
  plan->site = site;
  return *plan;
}

Plan Planner::plan(uint64_t site) const {
  if (auto plan = rider(site)) return *plan;
  const Patches::Byte* byte = patches_.byte(site);
  if (byte != nullptr && (byte->moved || byte->written))
    return impossible(site, byte->owner, "it is part of another patch");
  if (byte != nullptr) {
    const auto* holder = patches_.meeting({site, site + 1});
    return impossible(site, holder == nullptr ? 0 : holder->plan.site,
                      "its bytes are part of another jump's distance");
  }
  if (!code_.range().holds(site)) return impossible(site, 0, "it is no code that is known");
  if (!code_.starts(site)) return without_pad(site, "no instruction is known to begin there");
  if (code_.kept(site)) return without_pad(site, "it is in a restartable sequence (rseq)");
  const CodeInstruction one = machine::decode_code(code_.bytes_at(site), site);
  if (one.endbr) return behind_endbr(site);
  if (one.flow == Flow::System) return without_pad(site, "the kernel looks at its address");
  if (one.flow == Flow::Stop) return without_pad(site, "it traps");
  const auto moved = instruction(site);
  if (!moved) return without_pad(site, "it cannot be copied, or another patch has some of it");
  auto plan = pad(*moved);
  return plan ? *plan : without_pad(site, "no jump fits");
}

}  // namespace tracewell::pads
