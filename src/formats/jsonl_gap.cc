#include "formats/jsonl_gap.h"

#include <algorithm>
#include <utility>

#include "base/endian.h"

namespace tracewell::formats {
namespace {

constexpr size_t kThreadsMax = 1 << 14;
constexpr size_t kRegistersMax = 1 << 20;  // of all threads, that were told

}  // namespace

void JsonlGap::put(Event& event, uint64_t seq) {
  event.seq = seq;
  event.body = Lost{std::exchange(lines_, 0), "lines that cannot be read"};
  ++gaps_;
}

void JsonlGap::tell(Batch& batch) {
  if (lines_ != 0) {
    const uint64_t seq = batch.events().back().seq;
    put(batch.insert(batch.size() - 1), seq);
    if (std::exchange(overflown_, false)) {
      Event& mark = batch.insert(batch.size() - 1);
      mark.seq = seq;
      mark.body = Mark{"behind a hole, with too many threads to go on", true};
      threads_.clear();
      told_ = 0;
    }
  }
  Event& event = batch.events().back();
  if (auto* step = std::get_if<Step>(&event.body)) look(event, *step, batch);
}

void JsonlGap::look(Event& event, Step& step, Batch& batch) {
  auto found = threads_.find(event.tid);
  if (found == threads_.end()) {
    overflown_ |= threads_.size() >= kThreadsMax;
    if (overflown_) return;
    found = threads_.try_emplace(event.tid, Known{gaps_, {}}).first;
  }
  Known& known = found->second;
  if (std::exchange(known.gaps, gaps_) != gaps_) forget(known, step, batch);
  for (const auto changes : {step.before, step.registers})
    for (const Step::RegisterChange& one : changes) {
      if (one.value.empty())
        told_ -= known.registers.erase(one.index);
      else if (told_ < kRegistersMax)
        told_ += known.registers.insert(one.index).second;
      else
        overflown_ |= !known.registers.contains(one.index);
    }
}

void JsonlGap::finish(Batch& batch, uint64_t seq) {
  if (lines_ != 0) put(batch.add(), seq);
}

/// The program counter is known of every step.
void JsonlGap::forget(Known& known, Step& step, Batch& batch) {
  const RegisterLayout& layout = catalog_.registers;
  for (const Step::RegisterChange& one : step.before) told_ -= known.registers.erase(one.index);
  std::vector<uint32_t> stale(known.registers.begin(), known.registers.end());
  std::ranges::sort(stale);
  std::vector<Step::RegisterChange> before(step.before.begin(), step.before.end());
  for (const uint32_t index : stale) {
    const uint32_t size = layout.registers[index].size_bytes;
    if (index != layout.pc_index || size > 8) {
      before.push_back({index, {}});
      continue;
    }
    const std::span<uint8_t> pc = batch.array<uint8_t>(size);
    store_uint(pc.data(), step.pc, size, catalog_.endian);
    before.push_back({index, pc});
  }
  step.before = batch.copy_array(std::span<const Step::RegisterChange>(before));
}

}  // namespace tracewell::formats
