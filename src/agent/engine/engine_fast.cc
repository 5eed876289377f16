// Fast tracepoints of a run: which ones there are, and what they bring. What cannot be fast is a
// trap; so is one that shares its place with others.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/engine/engine.h"
#include "fast/record.h"

namespace tracewell::agent {

using target::because;
using target::TrapReason;

std::optional<FastUse> parse_fast_use(std::string_view word) {
  if (word == "all") return FastUse::All;
  if (word == "asked") return FastUse::Asked;
  if (word == "none") return FastUse::None;
  return std::nullopt;
}

void Engine::begin_fast() {
  drop_fast();
  remarks_.clear(), handlers_.clear();
  no_pads_ = {};
  const auto asks = [](const TracepointDef& one) { return one.fast_length.has_value(); };
  const bool asked = std::ranges::any_of(definitions_, asks);
  target::FastSites* const sites = target_.trace_sites()->fast();
  if (sites == nullptr || definitions_.empty()) return;
  if (use_fast_ == FastUse::None) no_pads_ = HitWay::trap(because(TrapReason::Off));
  else if (use_fast_ == FastUse::Asked && !asked)
    no_pads_ = HitWay::trap(because(TrapReason::NotAsked));
  else begin_pads(*sites, asked);
}

/// What holds for all of the program's tracepoints is told, whatever they were asked for by. What
/// may be otherwise at the next start concerns who has asked for pads.
void Engine::begin_pads(target::FastSites& sites, bool asked) {
  auto fast = std::make_unique<FastTrace>(sites, target_.layout(pid_), clock_, [this] {
    return target_.facts() != nullptr && target_.facts()->gives_up();
  });
  if (Status status = fast->begin(pid_, buffer_.size_bytes(), rings_bytes_); !status) {
    no_pads_ = HitWay::trap(status.error());
    const bool passes = status.error().code == Errc::Target;
    std::string text = fmt::format("{} are traps in this process, {}: {}{}",
                                   asked ? "Fast tracepoints" : "Tracepoints",
                                   text_of(HitCost::Stop), status.error().text(),
                                   passes ? " (another tstart may find them elsewhere)" : "");
    if (asked || !passes) remark(std::move(text));
    return;
  }
  fast_ = std::move(fast);
  fast_->house(variables_);
}

/// As a pad, where it can be one. At a stop it can be looked at whether one is enabled.
HitWay Engine::put_fast(const TracepointDef& definition, const CollectPlan& plan, bool alone) {
  if (!fast_) return no_pads_;
  if (!definition.enabled) return HitWay::trap(because(TrapReason::Disabled));
  if (!definition.fast_length && use_fast_ != FastUse::All)
    return HitWay::trap(because(TrapReason::NotAsked));
  if (!alone) return HitWay::trap(because(TrapReason::OneOfSeveral));
  const Result<HitCost> cost = fast_->insert(definition, plan, variables_);
  return cost.ok() ? HitWay::pad(*cost) : HitWay::trap(cost.error());
}

bool Engine::insert_fast(size_t index) {
  const TracepointDef& definition = definitions_[index];
  HitWay& way = points_[index].way;
  way = put_fast(definition, points_[index].plan, definitions_at(definition.address).size() == 1);
  if (way.kind == HitWay::Kind::Pad) return true;
  if (!fast_ || !definition.fast_length || way.reason == TrapReason::Disabled) return false;
  const std::string text = fmt::format("Fast {} is {}", name_of(definition), text_of(way));
  // Who has put two at a place knows; gdbserver does without a word what it can there, and GDB's
  // testsuite takes any for a failure.
  if (way.reason == TrapReason::OneOfSeveral || way.reason == TrapReason::Breakpoint) tell(text);
  else remark(text);
  return false;
}

/// All else was done while the program ran.
void Engine::take_effect() {
  const auto want_probes = [this] {
    for (const Point& point : points_) want_probe(point.plan, true);
  };
  if (!fast_) return want_probes();
  fast_->expect_hits();
  target_.trace_sites()->fast()->while_still([&] {
    for (const uint64_t address : fast_->commit()) {
      const Status trap = insert_site(address);
      for (const size_t i : definitions_at(address))
        points_[i].way = trap ? HitWay::trap(because(TrapReason::CodeChanged)) : HitWay{};
      if (!trap)
        remark(fmt::format("Lost the tracepoint at {:#x}: {}", address, trap.error().text()));
    }
    want_probes();
  });
  buffer_.memory().make_ahead();  // not before: whoever maps memory waits for who fills it
}

void Engine::remark(std::string text) {
  tell(text);
  remarks_.push_back(std::move(text));
}

std::vector<std::string> Engine::remarks() { return std::exchange(remarks_, {}); }

/// Takes hits of pads, as frames like any others.
struct Engine::FastTaker final : FastHits {
  explicit FastTaker(Engine& the_engine) : engine(the_engine) {
    // Before a frame of another process, which does not say so.
    target::FastSites* const sites = engine.target_.trace_sites()->fast();
    if (engine.whose_.known().empty() || sites == nullptr) return;
    if (!sites->has_others(engine.pid_)) return;
    engine.whose_.forget();
    engine.publish();
  }

  /// What hits of a place have in common is found out once, as long as the place is the same.
  Plain plain(std::span<const PlainHit> hits, fast::UnchangedPages& pages) override {
    using Next = Plain::Next;
    if (engine.ending()) return {0, Next::Unwanted};
    if (engine.unpublished_) return {0, Next::NotPlain};
    TraceBuffer& buffer = engine.buffer_;
    const FastPlace* place = nullptr;
    size_t index = kNone, kept = 0;
    uint32_t shape = 0;
    for (const PlainHit& hit : hits) {
      if (hit.place != place) {
        index = find(*hit.place);
        if (index == kNone || !engine.definitions_[index].enabled) return {kept, Next::NotPlain};
        const auto known = shape_of(index, *hit.place);
        if (!known) return {kept, Next::NotPlain};
        place = hit.place;
        shape = *known;
      }
      const std::span<uint8_t> room = buffer.room_for(hit.unstable.size());
      if (room.size() != hit.unstable.size() || room.data() == nullptr ||
          !fast::copy_plain(hit.unstable, pages, room))
        return {kept, Next::NotPlain};
      buffer.commit(shape, static_cast<int32_t>(hit.tid), hit.time_ns, room.size());
      count(index);
      ++kept;
      if (engine.passed_) return {kept, Next::Unwanted};
    }
    return {kept, Next::NotPlain};
  }

  bool hit(FastPlace& place, const FastHit& hit) override {
    if (engine.ending()) return false;
    const size_t index = find(place);
    if (index == kNone || !engine.definitions_[index].enabled) return true;
    if (engine.unpublished_) engine.publish();
    if (!hit.fault.ok()) engine.note_fault(index, hit.fault);
    if (hit.condition) return !engine.ending();
    FrameRecord record = record_of(index, place);
    record.tid = static_cast<int32_t>(hit.tid);
    record.time_ns = hit.time_ns;
    if (engine.buffer_.append(record, hit.data)) {
      count(index);
    } else {
      ++engine.points_[index].hits;
      engine.note_pass_count(index);
      engine.note_full(index);
    }
    return !engine.ending();
  }

  static constexpr size_t kNone = SIZE_MAX;
  size_t find(FastPlace& place) const {
    if (place.index < engine.definitions_.size()) {
      const TracepointDef& one = engine.definitions_[place.index];
      if (one.number == place.number && one.address == place.address) return place.index;
    }
    const auto index = engine.find(place.number, place.address);
    if (index) place.index = *index;
    return index.value_or(kNone);
  }
  std::optional<uint32_t> shape_of(size_t index, FastPlace& place) const {
    if (!place.shape || place.generation != engine.buffer_.generation()) {
      place.shape = engine.buffer_.shape_of(record_of(index, place));
      place.generation = engine.buffer_.generation();
    }
    return place.shape;
  }
  FrameRecord record_of(size_t index, const FastPlace& place) const {
    FrameRecord record;
    record.tracepoint = static_cast<int16_t>(place.number);
    record.pc = place.address;
    engine.points_[index].plan.mask.mark(record);
    return record;
  }
  void count(size_t index) const {
    Point& point = engine.points_[index];
    ++point.hits;
    point.bytes += engine.buffer_.appended_bytes();
    if (engine.definitions_[index].pass_count > 0) engine.note_pass_count(index);
  }

  Engine& engine;
};

/// Frames of what has happened inside since the last time.
void Engine::take_fast(FastTrace::Share share) {
  if (!fast_) return;
  FastTaker taker(*this);
  fast_->take(taker, share);
  buffer_.memory().set_lost(losses().all());
}

void Engine::on_thread(const target::FastSites::ThreadBase& thread) {
  if (running_ && fast_) fast_->thread_begins(thread);
}

void Engine::on_exit(target::Tid tid) {
  if (!running_ || !fast_) return;
  FastTaker taker(*this);
  fast_->thread_ends(tid, taker);
}

void Engine::end_fast() {
  if (!fast_) return;
  FastTaker taker(*this);
  fast_->close(taker);
  fast_lost_ += fast_->losses();
  handlers_ = fast_->text_of_handlers();
  buffer_.memory().set_lost(fast_lost_.all());
  drop_fast();
}

void Engine::drop_fast() {
  change_ = FastTrace::Change::None;
  if (fast_) variables_.come_home();
  fast_.reset();
}

/// What the program does to itself does not wait for the end of a run.
bool Engine::on_tick() {
  on_poll();
  if (unpublished_) publish();
  if (running_ && fast_ && change_ == FastTrace::Change::None) change_ = fast_->look();
  return change_ != FastTrace::Change::None;
}

void Engine::on_still() {
  catch_up(false);
  if (!running_ || !fast_) return;
  if (change_ == FastTrace::Change::Filters)
    tell("The program has begun to filter its system calls, or to filter more of them (seccomp, "
         "SIGSYS): tracepoints are traps from now on");
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
  if (change == FastTrace::Change::Faults || change == FastTrace::Change::Handlers)
    fast_->learn_handlers();
  if (change == FastTrace::Change::Handlers) return;
  insert_anew(change == FastTrace::Change::Code ? &fast_->gone() : nullptr);
}

/// As something else than they were: each as a trap, if it cannot be otherwise. All, or those at
/// these places. They go first, since one that is there may keep another's code from being known.
void Engine::insert_anew(const std::vector<uint64_t>* places) {
  std::vector<size_t> these;
  const auto take_out = [&](size_t i) {
    const TracepointDef& definition = definitions_[i];
    if (!fast_->has(definition.number, definition.address)) return;
    fast_->remove(definition.number, definition.address);
    these.push_back(i);
  };
  if (places == nullptr) {
    for (size_t i = 0; i < definitions_.size(); ++i) take_out(i);
  } else {
    for (const uint64_t place : *places) std::ranges::for_each(definitions_at(place), take_out);
  }
  for (const size_t i : these) {
    const TracepointDef& definition = definitions_[i];
    Status status = Error{Errc::Target, "the code there is not what it was", {}};
    if (places == nullptr || fast_->is_as_before(definition.address)) {
      if (insert_fast(i)) continue;
      status = insert_site(definition.address);
    } else {
      points_[i].way = {};
    }
    if (!status) tell("Lost " + Error(status.error()).within(name_of(definition)).text());
  }
}

void Engine::on_leave(target::Tid tid) {
  if (!running_ || !fast_) return;
  FastTaker taker(*this);
  fast_->make_room(tid, taker);
}

void Engine::on_failed_load() {
  if (fast_) fast_->stop_loads();
}

void Engine::catch_up(bool stands) {
  if (unpublished_ && !running_) publish();
  if (!running_) return;
  take_fast(stands ? FastTrace::Share::All : FastTrace::Share::Most);
  end_if_due();
}

void Engine::on_poll() {
  if (!running_) return;
  take_fast(FastTrace::Share::Some);
  end_if_due();
}

}  // namespace tracewell::agent
