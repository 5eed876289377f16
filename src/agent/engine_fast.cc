// Fast tracepoints of a run: which ones there are, and what they bring. What cannot be fast is a
// trap; so is one that shares its place with others.
#include <algorithm>

#include <fmt/format.h>

#include "agent/engine.h"

namespace tracewell::agent {

void Engine::begin_fast() {
  fast_.reset();
  const auto is_fast = [](const TracepointDef& one) { return one.fast_length.has_value(); };
  if (std::ranges::none_of(definitions_, is_fast)) return;
  auto fast = std::make_unique<FastTrace>(*target_.trace_sites()->fast(), target_.layout(pid_),
                                          clock_);
  if (Status status = fast->begin(pid_, buffer_.size_bytes()); !status) {
    tell("Fast tracepoints are traps in this process: " + status.error().text());
    return;
  }
  fast_ = std::move(fast);
}

bool Engine::insert_fast(size_t index) {
  const TracepointDef& definition = definitions_[index];
  if (!fast_ || !definition.fast_length) return false;
  const auto here =
      std::ranges::equal_range(definitions_, definition.address, {}, &TracepointDef::address);
  Status status = Error{Errc::Unsupported, "another tracepoint is at its place", {}};
  if (here.size() == 1) status = fast_->insert(definition, points_[index].plan);
  if (!status)
    tell(fmt::format("Fast tracepoint {} at 0x{:x} is a trap: {}", definition.number,
                     definition.address, status.error().text()));
  return status.ok();
}

/// Frames of what has happened inside since the last time.
void Engine::take_fast() {
  if (!fast_) return;
  fast_->take([this](const FastTrace::Hit& hit) { fast_hit(hit); });
  // A full ring is one that could hold as much as the whole buffer.
  if (!buffer_.circular() && fast_->was_full()) full_ = true;
}

void Engine::on_thread(const target::FastSites::ThreadBase& thread) {
  if (running_ && fast_) fast_->thread_begins(thread);
}

void Engine::on_exit(target::Tid tid) {
  if (running_ && fast_)
    fast_->thread_ends(tid, [this](const FastTrace::Hit& hit) { fast_hit(hit); });
}

void Engine::fast_hit(const FastTrace::Hit& hit) {
  const auto index = find(hit.number, hit.address);
  if (!index || ending() || !definitions_[*index].enabled) return;
  if (!hit.fault.ok()) note_fault(*index, hit.fault);
  if (hit.condition) return;
  Point& point = points_[*index];
  ++point.hits;
  note_pass_count(*index);
  FrameRecord record;
  record.tracepoint = static_cast<int16_t>(hit.number);
  record.pc = hit.address;
  record.tid = static_cast<int32_t>(hit.tid);
  record.time_ns = hit.time_ns;
  point.plan.mask.mark(record);
  if (buffer_.append(record, hit.data)) point.bytes += hit.data.size();
  else note_full(*index);
}

void Engine::end_fast() {
  if (!fast_) return;
  fast_->close();
  take_fast();
  fast_lost_ += fast_->lost();
  fast_.reset();
}

void Engine::catch_up() {
  if (!running_ || !fast_) return;
  take_fast();
  end_if_due();
}

}  // namespace tracewell::agent
