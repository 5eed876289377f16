#include "formats/trace64/write/pushes.h"

#include <algorithm>

namespace tracewell::formats::trace64 {

using Access = Step::MemoryAccess;

void WrittenPushes::start_session() {
  judge_.restart();
  truth_.reset();
  count_ = 0;
  lost_ = false;
  told_ = false;
}

bool WrittenPushes::add(std::optional<uint64_t> known_sp, std::span<const Access> accesses) {
  const uint64_t mask = shape_.wide ? UINT64_MAX : UINT32_MAX;
  // Where it is not known, the push's write tells, which is the last one.
  if (const auto last = std::find_if(accesses.rbegin(), accesses.rend(),
                                     [](const Access& one) {
                                       return one.kind == Access::Kind::Write;
                                     });
      !known_sp && last != accesses.rend())
    known_sp = last->address + last->size;
  if (!known_sp) return false;
  const uint64_t sp = *known_sp & mask;
  const uint64_t slot = (sp - shape_.word) & mask;
  std::optional<PushOld> shown;
  for (const Access& access : accesses) {
    if (access.kind == Access::Kind::Nearby && access.address == sp && !access.old_bytes.empty())
      shown = PushOld::Top;
    if (access.kind != Access::Kind::Write || access.address != slot ||
        access.size != shape_.word || access.new_bytes.empty())
      continue;
    shown = access.old_bytes.empty() ? PushOld::Unknown : PushOld::Slot;
  }
  if (!shown) return false;
  const bool first = !truth_;
  if (first) truth_ = shown;
  count_ += truth_ == shown;
  return first;
}

void WrittenPushes::wrote(Bytes bytes) {
  if (lost_ || judge_.is_sure()) return;
  Block block;
  if (read_block(bytes, 0, shape_, false, block) == Reading::Whole) judge_.add(block);
}

std::optional<PushOld> WrittenPushes::correction() const {
  if (!truth_ || told_ || *truth_ == judge_.verdict()) return std::nullopt;
  return truth_;
}

}  // namespace tracewell::formats::trace64
