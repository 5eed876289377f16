#include "formats/jsonl/gap.h"

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

/// Behind a hole, where not all that was told is known to have been.
void JsonlGap::begin_anew(Batch& batch, size_t at, uint64_t seq) {
  if (!std::exchange(overflown_, false)) return;
  Event& mark = batch.insert(at);
  mark.seq = seq;
  mark.body = Mark{"behind a hole, with too many threads to go on", true};
  threads_.clear();
  told_ = 0;
}

void JsonlGap::tell(Batch& batch, bool tells_before) {
  if (lines_ != 0) {
    const uint64_t seq = batch.events().back().seq;
    put(batch.insert(batch.size() - 1), seq);
    begin_anew(batch, batch.size() - 1, seq);
  }
  Event& event = batch.events().back();
  if (std::holds_alternative<Lost>(event.body)) {
    lose(event.tid);
    begin_anew(batch, batch.size(), event.seq);
  } else if (auto* step = std::get_if<Step>(&event.body)) {
    look(event, *step, batch, tells_before);
  }
}

/// 0: of any thread.
void JsonlGap::lose(uint64_t tid) {
  if (tid == 0)
    ++losses_;
  else if (const auto found = threads_.find(tid); found != threads_.end())
    found->second.lost = true;
}

void JsonlGap::look(Event& event, Step& step, Batch& batch, bool tells_before) {
  auto found = threads_.find(event.tid);
  if (found == threads_.end()) {
    overflown_ |= threads_.size() >= kThreadsMax;
    if (overflown_) return;
    found = threads_.try_emplace(event.tid, Known{gaps_, losses_, false, {}}).first;
  }
  Known& known = found->second;
  const bool any_lost = std::exchange(known.losses, losses_) != losses_;
  const bool own_lost = std::exchange(known.lost, false);
  const bool behind_gap = std::exchange(known.gaps, gaps_) != gaps_;
  if (behind_gap || ((any_lost || own_lost) && !tells_before)) forget(known, step, batch);
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

void JsonlGap::flush(Batch& batch, uint64_t seq) {
  finish(batch, seq);
  if (!batch.empty()) begin_anew(batch, batch.size(), seq);
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
