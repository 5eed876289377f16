#include "fast/known_ranges.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"

namespace tracewell::fast {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

bool same(const tracewell_range& a, const tracewell_range& b) {
  return a.start == b.start && a.end == b.end;
}

std::vector<tracewell_range> joined(std::vector<tracewell_range> ranges) {
  std::ranges::sort(ranges, {}, &tracewell_range::start);
  std::vector<tracewell_range> out;
  for (const tracewell_range& one : ranges) {
    if (one.start >= one.end) continue;
    if (!out.empty() && one.start <= out.back().end)
      out.back().end = std::max(out.back().end, one.end);
    else
      out.push_back(one);
  }
  return out;
}

std::vector<tracewell_range> largest(std::vector<tracewell_range> ranges, size_t most) {
  if (ranges.size() <= most) return ranges;
  const auto bytes = [](const tracewell_range& one) { return one.end - one.start; };
  std::ranges::nth_element(ranges, ranges.begin() + static_cast<ptrdiff_t>(most),
                           std::ranges::greater(), bytes);
  ranges.resize(most);
  std::ranges::sort(ranges, {}, &tracewell_range::start);
  return ranges;
}

}  // namespace

KnownRanges::KnownRanges(std::span<uint8_t> memory, const AreaShape& shape)
    : shared_(*reinterpret_cast<tracewell_ranges*>(memory.data() + shape.ranges_offset())) {
  TW_CHECK(memory.size() >= shape.bytes());
}

/// Who reads meanwhile finds an odd number, or another one than before. x86-64 keeps the order of
/// stores; so must the compiler.
void KnownRanges::write(std::span<const tracewell_range> ranges) {
  const std::atomic_ref sequence(shared_.sequence);
  sequence.store(sequence_ | 1);
  std::atomic_thread_fence(std::memory_order_release);
  for (size_t i = 0; i < std::max(ranges.size(), now_.size()); ++i) {
    const tracewell_range one = i < ranges.size() ? ranges[i] : tracewell_range{};
    std::atomic_ref(shared_.ranges[i].start).store(one.start, kRelaxed);
    std::atomic_ref(shared_.ranges[i].end).store(one.end, kRelaxed);
  }
  std::atomic_ref(shared_.count).store(static_cast<uint32_t>(ranges.size()), kRelaxed);
  sequence_ += 2;
  sequence.store(sequence_, std::memory_order_release);
}

void KnownRanges::set(std::vector<tracewell_range> ranges) {
  ranges = largest(joined(std::move(ranges)), TRACEWELL_RANGES_MAX);
  if (std::ranges::equal(ranges, now_, same)) return;
  write(ranges);
  now_ = std::move(ranges);
}

void KnownRanges::clear() { set({}); }

/// Others may have written there, so that it is not enough that we believe it empty.
void KnownRanges::wipe() {
  now_.resize(TRACEWELL_RANGES_MAX);
  write({});
  now_.clear();
}

bool KnownRanges::wanted() {
  const std::atomic_ref wanted(shared_.wanted);
  return wanted.load(kRelaxed) != 0 && wanted.exchange(0) != 0;
}

void KnownRanges::ask_for_handlers() { std::atomic_ref(shared_.asks).store(1, kRelaxed); }

}  // namespace tracewell::fast
