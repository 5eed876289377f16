// Fast tracepoints of a run: which ones there are, and what they bring. What cannot be fast is a
// trap; so is one that shares its place with others.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/engine.h"

namespace tracewell::agent {

std::optional<FastUse> parse_fast_use(std::string_view word) {
  if (word == "all") return FastUse::All;
  if (word == "asked") return FastUse::Asked;
  if (word == "none") return FastUse::None;
  return std::nullopt;
}

void Engine::begin_fast() {
  drop_fast();
  remarks_.clear();
  const auto asks = [](const TracepointDef& one) { return one.fast_length.has_value(); };
  const bool asked = std::ranges::any_of(definitions_, asks);
  if (use_fast_ == FastUse::None || definitions_.empty()) return;
  if (use_fast_ == FastUse::Asked && !asked) return;
  target::FastSites* const sites = target_.trace_sites()->fast();
  if (sites == nullptr) return;
  auto fast = std::make_unique<FastTrace>(*sites, target_.layout(pid_), clock_, [this] {
    return target_.facts() != nullptr && target_.facts()->gives_up();
  });
  if (Status status = fast->begin(pid_, buffer_.size_bytes(), rings_bytes_); !status) {
    const bool passes = status.error().code == Errc::Target;
    if (asked)
      remark(fmt::format("Fast tracepoints are traps in this process: {}{}", status.error().text(),
                         passes ? " (another tstart may find them elsewhere)" : ""));
    return;
  }
  fast_ = std::move(fast);
  fast_->house(variables_);
}

bool Engine::wants_fast(const TracepointDef& definition) const {
  // At a stop it can be looked at whether one is enabled.
  return fast_ && definition.enabled && (definition.fast_length || use_fast_ == FastUse::All);
}

bool Engine::insert_fast(size_t index) {
  const TracepointDef& definition = definitions_[index];
  if (!wants_fast(definition)) return false;
  const auto here =
      std::ranges::equal_range(definitions_, definition.address, {}, &TracepointDef::address);
  Status status = Error{Errc::Limit, "another tracepoint is at its place", {}};
  if (here.size() == 1) status = fast_->insert(definition, points_[index].plan, variables_);
  if (status || !definition.fast_length) return status.ok();
  const std::string text =
      fmt::format("Fast {} is a trap: {}", name_of(definition), status.error().text());
  // Who has put two at a place knows; gdbserver does without a word what it can there, and GDB's
  // testsuite takes any for a failure.
  if (status.error().code == Errc::Limit) tell(text);
  else remark(text);
  return false;
}

void Engine::remark(std::string text) {
  tell(text);
  remarks_.push_back(std::move(text));
}

std::vector<std::string> Engine::remarks() { return std::exchange(remarks_, {}); }

/// Frames of what has happened inside since the last time.
void Engine::take_fast(bool whole) {
  if (!fast_) return;
  const auto visit = [this](const FastTrace::Hit& hit) { return fast_hit(hit); };
  whole ? fast_->take_whole(visit) : fast_->take(visit);
  buffer_.set_lost(fast_lost_ + fast_->lost());
}

void Engine::on_thread(const target::FastSites::ThreadBase& thread) {
  if (running_ && fast_) fast_->thread_begins(thread);
}

void Engine::on_exit(target::Tid tid) {
  if (running_ && fast_)
    fast_->thread_ends(tid, [this](const FastTrace::Hit& hit) { return fast_hit(hit); });
}

/// False: the run is about to end, and has no use for more.
bool Engine::fast_hit(const FastTrace::Hit& hit) {
  const auto index = find(hit.number, hit.address);
  if (ending()) return false;
  if (!index || !definitions_[*index].enabled) return true;
  if (unpublished_) publish();
  if (!hit.fault.ok()) note_fault(*index, hit.fault);
  if (hit.condition) return !ending();
  Point& point = points_[*index];
  ++point.hits;
  note_pass_count(*index);
  FrameRecord record;
  record.tracepoint = static_cast<int16_t>(hit.number);
  record.pc = hit.address;
  record.tid = static_cast<int32_t>(hit.tid);
  record.time_ns = hit.time_ns;
  point.plan.mask.mark(record);
  if (buffer_.append(record, hit.data)) point.bytes += buffer_.appended_bytes();
  else note_full(*index);
  return !ending();
}

void Engine::end_fast() {
  if (!fast_) return;
  fast_->close([this](const FastTrace::Hit& hit) { return fast_hit(hit); });
  fast_lost_ += fast_->lost();
  buffer_.set_lost(fast_lost_);
  drop_fast();
}

void Engine::drop_fast() {
  change_ = FastTrace::Change::None;
  if (fast_) variables_.come_home();
  fast_.reset();
}

/// What the program does to itself does not wait for the end of a run.
bool Engine::on_tick() {
  catch_up();
  if (unpublished_) publish();
  if (running_ && fast_ && change_ == FastTrace::Change::None) change_ = fast_->look();
  return change_ != FastTrace::Change::None;
}

void Engine::on_still() {
  catch_up();
  if (!running_ || !fast_) return;
  if (change_ == FastTrace::Change::Filters)
    tell("The program filters its system calls (seccomp, SIGSYS): tracepoints are traps from now "
         "on");
  if (change_ == FastTrace::Change::Pages)
    tell("The program supplies pages of its memory itself (userfaultfd): tracepoints are traps "
         "from now on");
  if (change_ == FastTrace::Change::Ticks)
    tell("A thread of the program may not read the time stamp counter (PR_SET_TSC): tracepoints "
         "are traps from now on");
  if (change_ == FastTrace::Change::Inside)
    tell("A thread of the program cannot be led out of the code of the trace: it waits in the "
         "kernel, or the program has changed that code. Tracepoints are traps from now on");
  const auto change = std::exchange(change_, FastTrace::Change::None);
  if (change == FastTrace::Change::None) return;
  insert_anew(change == FastTrace::Change::Code ? &fast_->gone() : nullptr);
}

/// As something else than they were: each as a trap, if it cannot be otherwise. All, or those at
/// these places. They go first, since one that is there may keep another's code from being known.
void Engine::insert_anew(const std::vector<uint64_t>* places) {
  std::vector<size_t> these;
  for (size_t i = 0; i < definitions_.size(); ++i) {
    const TracepointDef& definition = definitions_[i];
    if (!fast_->has(definition.number, definition.address)) continue;
    if (places != nullptr && std::ranges::find(*places, definition.address) == places->end())
      continue;
    fast_->remove(definition.number, definition.address);
    these.push_back(i);
  }
  for (const size_t i : these) {
    const TracepointDef& definition = definitions_[i];
    Status status = Error{Errc::Target, "the code there is not what it was", {}};
    if (places == nullptr || fast_->is_as_before(definition.address)) {
      if (insert_fast(i)) continue;
      status = insert_site(definition.address);
    }
    if (!status) tell("Lost " + Error(status.error()).within(name_of(definition)).text());
  }
}

void Engine::on_leave(target::Tid tid) {
  if (running_ && fast_)
    fast_->make_room(tid, [this](const FastTrace::Hit& hit) { return fast_hit(hit); });
}

void Engine::catch_up() {
  if (!running_) return;
  take_fast();
  end_if_due();
}

}  // namespace tracewell::agent
