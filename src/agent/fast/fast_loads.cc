// How hits read memory in a program that handles faults: by loads, where the target mends what they
// break, and in memory that the program had when we last looked; else by system calls.
#include <chrono>
#include <cstddef>

#include <fmt/format.h>

#include "agent/fast/fast_trace.h"

namespace tracewell::agent {
namespace {

using Steady = std::chrono::steady_clock;

int64_t ns_of(Steady::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

}  // namespace

void FastTrace::learn_handlers() {
  learned_at_ = Steady::now();
  const auto page = sites_.learn_handlers(pid_);
  if (!page.ok()) {
    if (geometry_.keys == TRACEWELL_KEYS_SELF) change(geometry_.keys, TRACEWELL_KEYS_FS_BASE);
    return change(geometry_.reads, TRACEWELL_READS_CALL);
  }
  if (!known_) known_.emplace(shared_.bytes, shape_);
  // No hit looks at it yet.
  const uint64_t at = geometry_at_ + offsetof(tracewell_geometry, fault_actions);
  for (unsigned i = 0; i < sizeof *page; ++i)
    sites_.change(pid_, at + i, static_cast<uint8_t>(*page >> 8 * i));
  maps_changed_ = true;
  looks_at_maps_ = ShareOfTime(99);  // at once
  look_at_memory(sites_.conduct(pid_));
}

void FastTrace::stop_loads() {
  maps_changed_ = true;
  if (known_) known_->wipe();
}

/// A look at the maps takes a hundredth of the time at most. What a program unmaps is not told: so
/// it is looked for now and then.
void FastTrace::look_at_memory(const target::FastSites::Conduct& now) {
  constexpr std::chrono::seconds kLooksEvery(1);
  if (!known_) return;
  if (!now.faults_are_mended) {
    known_->clear();
    maps_changed_ = true;
    return change(geometry_.reads, TRACEWELL_READS_CALL);
  }
  const auto begin = Steady::now();
  maps_changed_ = known_->wanted() || maps_changed_ || begin - mapped_at_ > kLooksEvery;
  if (maps_changed_ && looks_at_maps_.is_due(ns_of(begin))) {
    std::vector<tracewell_range> ranges;
    for (const auto& [start, end] : sites_.readable(pid_)) ranges.push_back({start, end});
    known_->set(std::move(ranges));
    maps_changed_ = false;
    mapped_at_ = Steady::now();
    looks_at_maps_.took(ns_of(begin), ns_of(mapped_at_));
  }
  known_->ask_for_handlers();
  change(geometry_.reads, TRACEWELL_READS_KNOWN);
}

std::string FastTrace::text_of_handlers() const {
  if (!known_) return {};
  const auto [restored, lost] = sites_.mended(pid_);
  std::string out;
  if (restored != 0)
    out = fmt::format("The kernel took away a handler of the program's {} time{}, since a hit had "
                      "read memory that was just gone; it was put back",
                      restored, restored == 1 ? "" : "s");
  if (lost != 0)
    out += fmt::format("{}a handler of the program's was taken away {} time{}, and is not known",
                       out.empty() ? "" : "; ", lost, lost == 1 ? "" : "s");
  return out;
}

}  // namespace tracewell::agent
