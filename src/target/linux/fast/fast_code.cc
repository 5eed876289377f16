#include "target/linux/fast/fast_code.h"

#include <algorithm>
#include <csignal>
#include <new>
#include <set>
#include <utility>

#include <sys/random.h>

#include <fmt/format.h>

#include "base/check.h"
#include "pads/planner.h"
#include "target/trap_reason.h"

namespace tracewell::target::live {
namespace {

/// Bytes of code, all segments together: of each of them a program's large ones have a part.
constexpr uint64_t kAllCodeMax = uint64_t{1} << 30;
constexpr uint64_t kKeptBytesMax = uint64_t{256} << 20;  // of known code, in memory
constexpr int kTriesMax = 32;  // of planning anew where memory could not be had
constexpr uint64_t kPadPage = pads::PadSpace::kPageBytes;

/// 0 where the system has none to give.
uint64_t random_number() {
  uint64_t out = 0;
  if (::getrandom(&out, sizeof out, GRND_NONBLOCK) != sizeof out) return 0;
  return out;
}

}  // namespace

FastCode::Segment::Segment(const CodeFacts& facts, const std::vector<pads::Range>& taken,
                           uint32_t spread)
    : code(facts.input),
      patches(code, pads::PadSpace(taken), FastSites::kSlotBytesMax, spread),
      code_bytes(facts.code_bytes) {}

FastCode::FastCode(PatchedMemory& memory, KnownCode& known)
    : memory_(memory), known_(known), spread_(static_cast<uint32_t>(random_number())) {}

FastCode::~FastCode() { memory_.covered = {}; }

uint64_t FastCode::far_away() {
  constexpr uint64_t kStart = uint64_t{1} << 45, kPages = uint64_t{1} << 33;
  return kStart + random_number() % kPages * kPadPage;
}

Result<FastCode::Segment*> FastCode::segment_at(uint64_t address,
                                                const AddressLayout& layout,
                                                const std::function<bool()>& stop) try {
  uint64_t left = kAllCodeMax;
  for (const auto& segment : segments_) {
    if (segment->code.range().holds(address)) return segment.get();
    left -= std::min(left, segment->code_bytes);
  }
  TW_ASSIGN_OR_RETURN(CodeFacts facts,
                      code_around(memory_, layout.maps, address, {stop, left}));
  if (!facts.small_stacks.empty())
    return because(facts.small_stacks == "Go" ? TrapReason::GoCode : TrapReason::OCamlCode,
                   ", whose stacks may have no room for a hit");
  const uint64_t start = facts.input.code.address;
  if (const auto before = known_.find(start); before != known_.end())
    facts.input.known = before->second;
  auto segment = std::make_unique<Segment>(facts, taken_in(layout), spread_);
  keep(segment->code.known());
  if (segment->code.unknown() != nullptr)
    return because(TrapReason::UnknownCode, fmt::format(": {}", segment->code.unknown()));
  segments_.push_back(std::move(segment));
  return segments_.back().get();
} catch (const std::bad_alloc&) {
  return because(TrapReason::NoMemoryToLook);
}

/// For the next run, as long as the code is the same.
void FastCode::keep(const pads::Known& known) {
  if (known.sweep == nullptr || known.memory_bytes() > kKeptBytesMax) return;
  uint64_t bytes = known.memory_bytes();
  for (const auto& [start, other] : known_)
    if (start != known.sweep->range().start) bytes += other.memory_bytes();
  if (bytes > kKeptBytesMax) known_.clear();
  known_[known.sweep->range().start] = known;
}

/// A library may have gone, and another one have come.
bool FastCode::is_as_known(const Segment& segment, uint64_t address) const {
  constexpr uint64_t kAround = 64;
  const uint64_t start = std::max(segment.code.range().start, address - kAround);
  const Bytes known = segment.code.bytes_at(start);
  std::vector<uint8_t> now(std::min<size_t>(known.size(), 2 * kAround));
  now.resize(memory_.read(start, now));
  return std::ranges::equal(now, known.first(now.size())) && !now.empty();
}

bool FastCode::splits_instruction(uint64_t address) const {
  const Segment* const segment = owner(address);
  return segment != nullptr && segment->code.inside(address) && is_as_known(*segment, address);
}

FastCode::Segment* FastCode::owner(uint64_t site) const {
  for (const auto& segment : segments_)
    if (segment->code.range().holds(site)) return segment.get();
  return nullptr;
}

bool FastCode::map_pads(Segment& segment, const pads::Plan& plan, const Map& map) const {
  for (const pads::Jump& jump : plan.jumps) {
    const pads::Range range = jump.pad_range();
    for (uint64_t page = range.start / kPadPage * kPadPage; page < range.end; page += kPadPage) {
      if (segment.pages.contains(page)) continue;
      if (!map(page, kPadPage)) {
        segment.patches.space().refuse({page, page + 1});
        return false;
      }
      segment.pages.insert(page);
    }
  }
  return true;
}

pads::Plan FastCode::prepare(Segment& segment, uint64_t address, const Map& map) const {
  const pads::Planner planner(segment.patches);
  for (int tries = 0; tries < kTriesMax; ++tries) {
    pads::Plan plan = planner.plan(address);
    if (!plan.is_pad() || map_pads(segment, plan, map)) return plan;
  }
  pads::Plan none;
  none.why = "no memory can be mapped in its reach";
  return none;
}

Status FastCode::insert(uint64_t address, Bytes slot, const AddressLayout& layout,
                        const Map& map, const std::function<bool()>& stop) {
  TW_CHECK(slot.size() <= FastSites::kSlotBytesMax && !slots_.contains(address));
  if (stays_inside) return because(TrapReason::StaysInside);
  TW_ASSIGN_OR_RETURN(Segment * segment, segment_at(address, layout, stop));
  if (!is_as_known(*segment, address)) {
    const pads::Range range = segment->code.range();
    if (std::ranges::any_of(slots_, [&](const auto& one) { return range.holds(one.first); }))
      return because(TrapReason::CodeChanged);
    std::erase_if(segments_, [&](const auto& one) { return one.get() == segment; });
    TW_ASSIGN_OR_RETURN(segment, segment_at(address, layout, stop));
  }
  if (segment->code.kept(address)) return because(TrapReason::Kept);
  // In code without unwind information, who asks for a tracepoint knows better.
  if (!segment->code.assume(address)) return because(TrapReason::NoInstruction);
  const pads::Plan plan = prepare(*segment, address, map);
  if (!plan.is_pad()) return because(TrapReason::NoJump, ": " + plan.why);
  TW_CHECK(segment->patches.add(plan));
  slots_[address].assign(slot.begin(), slot.end());
  Status done = write_pads(*segment, plan.kind == pads::Kind::Rider ? plan.host : plan.site);
  if (done && waits_) ready_[address] = plan;
  else if (done) done = write_patch(*segment, plan);
  if (!done) remove(address);
  return done;
}

/// Plans of a segment may rely on each other's bytes: all of them are written, or none.
std::vector<uint64_t> FastCode::commit() {
  waits_ = false;
  const std::map<uint64_t, pads::Plan> plans = std::exchange(ready_, {});
  std::set<const Segment*> changed;
  for (const auto& [site, plan] : plans)
    if (const Segment* const segment = owner(site);
        segment != nullptr && (stays_inside || !is_as_known(*segment, site)))
      changed.insert(segment);
  std::vector<uint64_t> failed;
  for (const auto& [site, plan] : plans) {
    const Segment* const segment = owner(site);
    if (segment == nullptr || changed.contains(segment) || !write_patch(*segment, plan).ok())
      failed.push_back(site);
  }
  std::erase_if(failed, [this](uint64_t site) { return !slots_.contains(site); });
  for (const uint64_t site : failed) remove(site);
  return failed;
}

Status FastCode::write_pads(const Segment& segment, uint64_t site) {
  const pads::Patches::Entry& entry = *segment.patches.find(site);
  std::vector<pads::Slot> slots;
  for (const uint64_t wanting : entry.slots) slots.push_back({wanting, slots_.at(wanting)});
  std::vector<uint64_t>& places = pads_of_[site];
  for (size_t i = 0; i < entry.plan.jumps.size(); ++i) {
    TW_ASSIGN_OR_RETURN(pads::Pad pad, pads::emit(segment.code, entry.plan, i, slots));
    TW_RETURN_IF_ERROR(memory_.write_raw(pad.address, pad.code));
    if (std::ranges::find(places, pad.address) == places.end()) places.push_back(pad.address);
    pads_[pad.address] = std::move(pad);
  }
  return {};
}

Status FastCode::write_patch(const Segment& segment, const pads::Plan& plan) {
  for (const uint64_t guard : plan.guards) guards_[guard] = plan.site;
  for (const pads::Write& write : plan.writes) {
    const Bytes before = segment.code.bytes_at(write.address).first(write.bytes.size());
    memory_.covered.put(write.address, before.size(),
                        {{before.begin(), before.end()}, write.bytes});
    TW_RETURN_IF_ERROR(memory_.write_raw(write.address, write.bytes));
  }
  return {};
}

/// What the program has written there meanwhile stays.
void FastCode::take_out(const Segment& segment, const pads::Plan& plan) {
  ready_.erase(plan.site);
  for (const pads::Write& write : plan.writes) {
    const Bytes before = segment.code.bytes_at(write.address).first(write.bytes.size());
    std::vector<uint8_t> now(write.bytes.size());
    now.resize(memory_.read_raw(write.address, now));
    if (now == write.bytes) best_effort(memory_.write_raw(write.address, before));
    memory_.covered.erase(write.address);
  }
  for (const uint64_t guard : plan.guards) guards_.erase(guard);
  if (stays_inside) return;  // and has to be found there
  for (const uint64_t pad : pads_of_[plan.site]) pads_.erase(pad);
  pads_of_.erase(plan.site);
}

void FastCode::remove(uint64_t address) {
  Segment* const segment = owner(address);
  ready_.erase(address);  // a rider's plan goes with no other
  if (segment == nullptr || slots_.erase(address) == 0) return;
  const pads::Patches::Removal removal = segment->patches.remove(address);
  for (const pads::Plan& plan : removal.gone) take_out(*segment, plan);
  if (stays_inside) return;  // where a pad has its slot still, hits of it are nobody's
  for (const uint64_t changed : removal.changed) best_effort(write_pads(*segment, changed));
}

void FastCode::remove_all() {
  for (const uint64_t site : sites()) remove(site);
}

std::vector<uint64_t> FastCode::sites() const {
  std::vector<uint64_t> out;
  for (const auto& [site, slot] : slots_) out.push_back(site);
  return out;
}

/// A plan that is in the way may be there for others' sake: then all of the segment's go.
std::vector<uint64_t> FastCode::sites_around(uint64_t address, uint64_t bytes) const {
  const Segment* const segment = owner(address);
  if (segment == nullptr) return {};
  const pads::Patches::Entry* const entry =
      segment->patches.meeting({address, address + bytes});
  if (entry == nullptr) return {};
  const pads::Range range = segment->code.range();
  std::vector<uint64_t> all;
  for (auto it = slots_.lower_bound(range.start); it != slots_.end() && it->first < range.end; ++it)
    all.push_back(it->first);
  return all;
}

void FastCode::add_code(uint64_t start, Bytes code, std::span<const FastSites::Load> loads) {
  Placed placed{start, {code.begin(), code.end()}, {}};
  for (const FastSites::Load& one : loads) placed.loads[start + one.load] = start + one.resume;
  placed_.put(start, code.size(), std::move(placed));
}

void FastCode::change(uint64_t address, uint8_t byte) {
  Placed* const placed = placed_.at(address);
  if (placed == nullptr) return;
  placed->code[address - placed->start] = byte;
  best_effort(memory_.write_raw(address, {&byte, 1}));
}

bool FastCode::is_ours(uint64_t pc) const {
  const auto is_as_written = [&](uint64_t start, Bytes code) {
    std::vector<uint8_t> now(code.size());
    now.resize(memory_.read_raw(start, now));
    return std::ranges::equal(now, code);
  };
  if (const Placed* const placed = placed_.at(pc))
    return is_as_written(placed->start, placed->code);
  const pads::Pad* const pad = pad_at(pc);
  return pad != nullptr && is_as_written(pad->address, pad->code);
}

const pads::Pad* FastCode::pad_at(uint64_t pc) const {
  auto found = pads_.upper_bound(pc);
  if (found == pads_.begin()) return nullptr;
  --found;
  return pc - found->first < found->second.code.size() ? &found->second : nullptr;
}

std::optional<FastCode::Place> FastCode::place_of(uint64_t pc) const {
  if (placed_.at(pc) != nullptr) return Place{};
  const pads::Pad* const pad = pad_at(pc);
  if (pad == nullptr) return std::nullopt;
  const pads::PadPoint* const point = pad->find(pc);
  if (point == nullptr) return Place{};
  const bool exact = !point->slot && pad->address + point->offset == pc;
  return Place{point->pc, point->sp_undo, exact, point->done};
}

std::optional<uint64_t> FastCode::redirected(int signal, uint64_t pc) const {
  if (signal == SIGSEGV || signal == SIGBUS) {
    const Placed* const placed = placed_.at(pc);
    if (placed == nullptr) return std::nullopt;
    const auto found = placed->loads.find(pc);
    if (found == placed->loads.end()) return std::nullopt;
    return found->second;
  }
  const auto guard = guards_.find(pc);
  if (guard == guards_.end()) return std::nullopt;
  for (const uint64_t address : pads_of_.at(guard->second))
    if (const auto entry = pads_.at(address).entry_of(pc)) return entry;
  return std::nullopt;
}

std::optional<uint64_t> FastCode::behind_slot(uint64_t pc) const {
  const Segment* const segment = owner(pc);
  if (segment == nullptr) return std::nullopt;
  const pads::Patches::Entry* entry = segment->patches.serving(pc);
  // The slot of a site at an endbr64 runs at the instruction behind that.
  if (entry == nullptr) entry = segment->patches.meeting({pc, pc + 1});
  if (entry == nullptr || !pads_of_.contains(entry->plan.site)) return std::nullopt;
  for (const uint64_t address : pads_of_.at(entry->plan.site))
    if (const auto copy = pads_.at(address).copy_of(pc)) return copy;
  return std::nullopt;
}

bool FastCode::is_as_before(uint64_t address) const {
  const Segment* const segment = owner(address);
  return segment != nullptr && is_as_known(*segment, address);
}

std::vector<uint64_t> FastCode::gone() {
  constexpr size_t kAtATime = 16;
  std::vector<uint64_t> found;
  const auto& all = memory_.covered.all();
  for (size_t left = std::min(kAtATime, all.size()); left > 0; --left) {
    auto at = all.upper_bound(looked_up_to_);
    if (at == all.end()) at = all.begin();
    looked_up_to_ = at->first;
    if (memory_.is_as_written(at->first, at->second.what)) continue;
    // A process that has just ended has no memory at all.
    uint8_t any = 0;
    if (placed_.empty() || memory_.read_raw(placed_.all().begin()->first, {&any, 1}) == 0)
      break;
    const std::vector<uint64_t> sites = sites_around(at->first, 1);
    found.insert(found.end(), sites.begin(), sites.end());
    break;
  }
  return found;
}

}  // namespace tracewell::target::live
