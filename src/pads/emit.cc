#include "pads/emit.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/endian.h"
#include "machine/relocate.h"

namespace tracewell::pads {
namespace {

using machine::CopyPoint;
using machine::DisplacedCode;

constexpr uint32_t kPatchBytes = 5;
/// One instruction of so many bytes that does nothing.
constexpr uint8_t kNops[kSlotAlignment][kSlotAlignment - 1] = {
    {},
    {0x90},
    {0x66, 0x90},
    {0x0f, 0x1f, 0x00},
    {0x0f, 0x1f, 0x40, 0x00},
    {0x0f, 0x1f, 0x44, 0x00, 0x00},
    {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
    {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
};

/// Joins the copy of an instruction to what comes behind it in the pad: of the jump that goes on
/// behind the original, only as much is left as is needed.
void join(DisplacedCode& copy, uint64_t next) {
  for (size_t i = 0; i < copy.points.size(); ++i) {
    const CopyPoint point = copy.points[i];
    if (!point.done || point.pc != next) continue;
    const size_t end = point.offset + kPatchBytes;
    if (end == copy.code.size()) {
      copy.code.resize(point.offset);
      copy.points.pop_back();
    } else {
      store_uint(&copy.code[point.offset + 1], copy.code.size() - end, 4, Endian::Little);
    }
    return;
  }
}

class Emission {
 public:
  explicit Emission(uint64_t address) { pad_.address = address; }

  void slot(const Slot& slot, uint64_t pc) {
    pad_.points.push_back({offset(), pc, 0, true, false, slot.site});
    const uint64_t gap = -(pad_.address + offset()) % kSlotAlignment;
    pad_.code.insert(pad_.code.end(), kNops[gap], kNops[gap] + gap);
    pad_.code.insert(pad_.code.end(), slot.bytes.begin(), slot.bytes.end());
  }
  Status instruction(const Code& code, const Moved& moved, bool last) {
    const uint64_t to = pad_.address + offset();
    DisplacedCode copy =
        machine::displace_x86_64(code.bytes_at(moved.address), moved.address, to);
    if (copy.how != DisplacedCode::How::Copy || copy.length != moved.length)
      return {Errc::Unsupported,
              fmt::format("the instruction at {:#x} cannot be copied to {:#x}", moved.address,
                          to)};
    if (!last) join(copy, moved.address + moved.length);
    for (const CopyPoint& point : copy.points)
      pad_.points.push_back({offset() + point.offset, point.done ? point.pc : moved.address,
                             point.sp_undo, false, point.done, 0});
    pad_.code.insert(pad_.code.end(), copy.code.begin(), copy.code.end());
    return {};
  }
  Pad take() { return std::move(pad_); }

 private:
  uint32_t offset() const { return static_cast<uint32_t>(pad_.code.size()); }
  Pad pad_;
};

}  // namespace

const PadPoint* Pad::find(uint64_t at) const {
  if (at < address || at - address >= code.size()) return nullptr;
  const auto it = std::upper_bound(
      points.begin(), points.end(), at - address,
      [](uint64_t offset, const PadPoint& point) { return offset < point.offset; });
  return it == points.begin() ? nullptr : &*std::prev(it);
}

std::optional<uint64_t> Pad::copy_of(uint64_t pc) const {
  for (const PadPoint& point : points)
    if (!point.slot && !point.done && point.pc == pc) return address + point.offset;
  return std::nullopt;
}

std::optional<uint64_t> Pad::entry_of(uint64_t pc) const {
  for (const PadPoint& point : points)
    if (!point.done && point.pc == pc) return address + point.offset;
  return std::nullopt;
}

Result<Pad> emit(const Code& code, const Plan& plan, size_t number,
                 std::span<const Slot> slots) {
  const Jump& jump = plan.jumps.at(number);
  Emission emission(jump.pad);
  for (const Moved& moved : jump.moved) {
    // The site's own may stand at the instruction behind it, an endbr64.
    const bool first = number == 0 && &moved == &jump.moved.front();
    for (const Slot& slot : slots)
      if (slot.site == plan.site ? first : slot.site == moved.address)
        emission.slot(slot, moved.address);
    const bool last = &moved == &jump.moved.back();
    TW_RETURN_IF_ERROR(emission.instruction(code, moved, last));
  }
  Pad pad = emission.take();
  if (pad.code.size() > jump.pad_bytes)
    return {Errc::Unsupported, fmt::format("a pad of {} bytes for {:#x} has room for {}",
                                           pad.code.size(), plan.site, jump.pad_bytes)};
  return pad;
}

}  // namespace tracewell::pads
