#include "pads/draft.h"

#include <algorithm>

#include "pads/emit.h"

namespace tracewell::pads {
namespace {

constexpr uint8_t kJump = 0xe9;
constexpr size_t kDisplacementBytes = 4;
/// Where the search begins for pads that may stand anywhere, from the code's start downwards:
/// memory right behind an image is where the heap grows, right below a library the next mappings
/// come.
constexpr uint64_t kUsualDistance = 0x2050'0000;
/// A byte of a distance may become the last byte of the distance of a jump ahead of it, which then
/// leads to so many times 16 MiB. These lead to where there is room: far below the code or, where
/// there is no below, far above. (kUsualDistance has such a third byte, too.)
constexpr uint32_t kBytes = 0xb0b0b0b0, kLowBytes = 0x30303030;
/// What of them, and of kUsualDistance, may be otherwise all the same: who knows where the code is
/// is not to know where its pads are.
constexpr uint32_t kSpreadBytes = 0x0f0f0f0f, kSpreadDistance = 0x0f0f'f000;
/// What a jump may have ahead of it without a change: segment overrides, which it has no use for.
/// (Not 66, which cuts its target on some processors, nor REX, which only counts as the last one.)
constexpr uint8_t kPrefix = 0x2e;

bool is_idle_prefix(uint8_t byte) {
  return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 ||
         byte == 0x65;
}

}  // namespace

size_t Draft::writable(Range instruction) const {
  uint64_t at = instruction.start;
  for (; at < instruction.end; ++at) {
    if (!code_.range().holds(at) || code_.kept(at) || !patches_.free(at)) break;
    if (at != instruction.start && code_.entered(at)) break;
  }
  return at - instruction.start;
}

void Draft::release(Range instruction) {
  const size_t bytes = writable(instruction);
  if (bytes != 0) released_.push_back({instruction.start, instruction.start + bytes});
}

size_t Draft::release_padding(Range range) {
  uint64_t at = range.start;
  while (at < range.end && code_.padding(at) && !code_.kept(at) && patches_.free(at)) ++at;
  if (at != range.start) released_.push_back({range.start, at});
  return at - range.start;
}

bool Draft::is_released(uint64_t address) const {
  return std::any_of(released_.begin(), released_.end(),
                     [address](const Range& range) { return range.holds(address); });
}

bool Draft::chosen(uint64_t address) const {
  return std::any_of(set_.begin(), set_.end(),
                     [address](const auto& set) { return set.first == address; });
}

std::optional<uint8_t> Draft::value(uint64_t address) const {
  for (const auto& [at, value] : set_)
    if (at == address) return value;
  if (is_released(address)) return std::nullopt;
  return patches_.value(address);
}

void Draft::rely(uint64_t address) {
  if (!chosen(address) && std::find(relied_.begin(), relied_.end(), address) == relied_.end())
    relied_.push_back(address);
}

bool Draft::set(uint64_t address, uint8_t value) {
  if (!code_.range().holds(address)) return false;
  const auto there = this->value(address);
  if (!there) {
    set_.push_back({address, value});
    return true;
  }
  if (*there != value) return false;
  rely(address);
  return true;
}

bool Draft::begin(const Jump& jump) {
  for (uint64_t at = jump.at; at < jump.at + jump.prefixes; ++at) {
    const auto there = value(at);
    if (there && !is_idle_prefix(*there)) return false;
    if (!set(at, there.value_or(kPrefix))) return false;
  }
  return set(jump.at + jump.prefixes, kJump);
}

uint64_t Draft::first_choice(const Pattern& reach) const {
  const uint64_t start = code_.range().start;
  const uint32_t spread = patches_.spread();
  const uint64_t usual = kUsualDistance + (spread & kSpreadDistance);
  const bool low = start <= usual;
  if (reach.mask == 0 && !low) return start - usual;
  if (reach.mask == 0) {  // somewhere in the lower half of what is below
    const uint64_t pages = start / 2 / PadSpace::kPageBytes;
    return pages == 0 ? 0 : spread % pages * PadSpace::kPageBytes;
  }
  const uint32_t bytes = (low ? kLowBytes : kBytes) ^ (spread & kSpreadBytes);
  const auto distance = static_cast<int32_t>((bytes & ~reach.mask) | reach.value);
  const uint64_t at = reach.base + static_cast<uint64_t>(int64_t{distance});
  return at < PadSpace::kHighest ? at : 0;
}

/// Apart from the pads of this draft, too. Where it can be, the pad's first slot needs no nop.
std::optional<uint64_t> Draft::find_pad(const Jump& jump, uint64_t from) const {
  Pattern reach = jump.reach;
  if ((reach.mask & (kSlotAlignment - 1)) == 0) {
    reach.mask |= kSlotAlignment - 1;
    reach.value |= -reach.base % kSlotAlignment;
  }
  for (size_t looks = 0; looks <= jumps_.size(); ++looks) {
    const auto pad = patches_.space().find(reach, jump.window, jump.pad_bytes, from);
    if (!pad) return std::nullopt;
    const Range range{*pad, *pad + jump.pad_bytes};
    const auto in_way = std::find_if(jumps_.begin(), jumps_.end(), [&](const Jump& other) {
      return other.pad_range().meets(range);
    });
    if (in_way == jumps_.end()) return pad;
    from = in_way->pad_range().end;
  }
  return std::nullopt;
}

bool Draft::place(Jump jump, uint64_t from) {
  if (!begin(jump)) return false;
  const uint64_t displacement = jump.at + jump.prefixes + 1;
  const Range field{displacement, displacement + kDisplacementBytes};
  if (field.end > code_.range().end) return false;
  jump.reach = {field.end, 0, 0};
  for (size_t i = 0; i < kDisplacementBytes; ++i) {
    const auto fixed = value(field.start + i);
    if (!fixed) continue;
    jump.reach.mask |= uint32_t{0xff} << (8 * i);
    jump.reach.value |= uint32_t{*fixed} << (8 * i);
  }
  const bool anywhere = jump.reach.mask == 0;
  std::optional<uint64_t> pad;
  if (anywhere && patches_.behind_last() != 0) pad = find_pad(jump, patches_.behind_last());
  if (!pad) pad = find_pad(jump, from != 0 && !anywhere ? from : first_choice(jump.reach));
  if (!pad && (from == 0 || anywhere)) pad = find_pad(jump, 0);
  if (!pad) return false;
  jump.pad = *pad;
  const auto value = static_cast<uint32_t>(jump.pad - field.end);
  for (size_t i = 0; i < kDisplacementBytes; ++i)
    if (!set(field.start + i, static_cast<uint8_t>(value >> (8 * i)))) return false;
  jumps_.push_back(std::move(jump));
  return true;
}

Plan Draft::take(uint64_t site, Kind kind) {
  Plan plan;
  plan.site = site;
  plan.kind = kind;
  plan.jumps = std::move(jumps_);
  const auto add = [](std::vector<Write>& writes, uint64_t at, uint8_t value) {
    if (writes.empty() || writes.back().address + writes.back().bytes.size() != at)
      writes.push_back({at, {}});
    writes.back().bytes.push_back(value);
  };
  std::sort(set_.begin(), set_.end());
  for (const auto& [at, value] : set_) add(plan.writes, at, value);
  std::sort(relied_.begin(), relied_.end());
  for (const uint64_t at : relied_) add(plan.relied, at, value(at).value_or(0));
  return plan;
}

}  // namespace tracewell::pads
