// Which registers and accessed memory held a number. No index has all values, so the steps are
// read; but on all cores, and in pieces that are handed over in their order.
#include <algorithm>
#include <deque>
#include <future>
#include <optional>
#include <thread>

#include "base/process/thread.h"
#include "trace/questions/finding.h"
#include "trace/register_values.h"

namespace tracewell::trace {
namespace {

using timeline::ChangedBy;

constexpr uint64_t kPieceSteps = 1 << 15;

/// Steps up to `end`, which is excluded, by one thread. The last hit is the first one, `backward`.
class Piece {
 public:
  Piece(const StepTrace& trace, const FindQuestion& question, uint64_t end, const Work& work)
      : timeline_(*trace.timeline),
        catalog_(trace.catalog()),
        question_(question),
        end_(end),
        work_(work) {}

  Result<std::vector<StepHit>> look(std::unique_ptr<Source> source) {
    steps_ = source->steps();
    TW_RETURN_IF_ERROR(look_at_all(*source));
    if (question_.backward) std::ranges::reverse(found_);
    return std::move(found_);
  }

 private:
  Status look_at_all(Source& source) {
    Batch batch;
    while (true) {
      TW_RETURN_IF_ERROR(work_.go_on());
      TW_ASSIGN_OR_RETURN(const bool more, source.next(batch));
      if (!more) return {};
      for (const Event& event : batch.events()) {
        if (!std::holds_alternative<Step>(event.body)) continue;
        if (event.seq >= end_) return {};
        look_at(event, std::get<Step>(event.body));
      }
    }
  }

  bool is_it(Bytes bytes) const {
    return !bytes.empty() && bytes.size() <= 8 &&
           question_.numbers.holds(bytes, catalog_.endian);
  }

  /// A reader that begins anywhere tells everything at a thread's first step. What has been so
  /// since an earlier step was told there; but for what a step left and did not tell itself, as
  /// where another thread follows it.
  bool is_news(const Event& event, uint32_t index) {
    if (timeline_.changes_at(index, ChangedBy::Others, event.seq)) return true;
    const uint64_t begin = timeline_.session_of(event.seq).first;
    const auto last = timeline_.last_step_of(event.tid, event.seq, begin);
    if (!last) return true;
    return timeline_.changes_at(index, ChangedBy::Instruction, *last) && !tells(*last, index);
  }

  /// Does that step say what it left in the register? (Several are asked for of one step.)
  bool tells(uint64_t seq, uint32_t index) {
    if (asked_ != seq) {
      asked_ = seq;
      told_.clear();
      ask_step(seq);
    }
    return std::ranges::find(told_, index) != told_.end();
  }
  void ask_step(uint64_t seq) {
    if (steps_ == nullptr) return;
    const auto source = steps_->open_at(seq);
    Batch batch;
    while (source) {
      const auto more = (*source)->next(batch);
      if (!more || !*more) return;
      for (const Event& event : batch.events()) {
        const auto* step = std::get_if<Step>(&event.body);
        if (step == nullptr) continue;
        for (const Step::RegisterChange& one : step->registers)
          if (!one.value.empty()) told_.push_back(one.index);
        return;
      }
    }
  }

  void look_at(const Event& event, const Step& step) {
    const auto& registers = catalog_.registers.registers;
    for (const Step::RegisterChange& one : step.before)
      if (is_it(one.value) && is_shown_unasked(registers[one.index]) &&
          is_news(event, one.index))
        add(event, {registers[one.index].name, 0, 0, true, copied(one.value)});
    for (const Step::RegisterChange& one : step.registers)
      if (is_it(one.value) && is_shown_unasked(registers[one.index]))
        add(event, {registers[one.index].name, 0, 0, false, copied(one.value)});
    for (const Step::MemoryAccess& access : step.memory) {
      if (access.kind == Step::MemoryAccess::Kind::Nearby) continue;
      const bool before = is_it(access.old_bytes);
      if (!before && !is_it(access.new_bytes)) continue;
      add(event, {"", access.address, access.size, before,
                  copied(before ? access.old_bytes : access.new_bytes)});
    }
  }
  static std::vector<uint8_t> copied(Bytes bytes) { return {bytes.begin(), bytes.end()}; }
  void add(const Event& event, FoundValue value) {
    found_.push_back({step_at(event), std::move(value)});
  }

  const timeline::Timeline& timeline_;
  const Catalog& catalog_;
  const FindQuestion& question_;
  const StepIndex* steps_ = nullptr;  // of the reader that is being looked through
  std::optional<uint64_t> asked_;
  std::vector<uint32_t> told_;  // registers whose values the step that was asked tells
  uint64_t end_;
  const Work& work_;
  std::vector<StepHit> found_;
};

/// From one step to another, which is excluded.
struct Stretch {
  uint64_t from = 0, end = 0;
  bool empty() const { return from >= end; }
};

/// Takes a piece off `rest`, at its end if `backward`: readers like to begin with a keyframe.
Stretch take_piece(const StepIndex& steps, Stretch& rest, bool backward) {
  const auto keyframes = steps.keyframes();
  Stretch out = rest;
  if (rest.end - rest.from <= kPieceSteps) {
    rest.from = rest.end;
  } else if (backward) {
    const uint64_t at = rest.end - kPieceSteps;
    const auto behind = std::upper_bound(keyframes.begin(), keyframes.end(), at);
    out.from = std::max(rest.from, behind == keyframes.begin() ? at : *(behind - 1));
    rest.end = out.from;
  } else {
    const uint64_t at = rest.from + kPieceSteps;
    const auto next = std::lower_bound(keyframes.begin(), keyframes.end(), at);
    out.end = std::min(rest.end, next == keyframes.end() ? at : *next);
    rest.from = out.end;
  }
  return out;
}

}  // namespace

Status find_values(Finding& finding) {
  const FindQuestion& question = finding.question;
  const StepIndex& steps = finding.trace.steps();
  const uint64_t count = finding.trace.timeline->steps();
  const bool backward = question.backward;
  Stretch rest = {question.from, question.to < count ? question.to + 1 : count};
  struct Running {
    Stretch piece;
    std::future<Result<std::vector<StepHit>>> found;
  };
  std::deque<Running> running;  // in their order
  const size_t most = std::max(1u, std::thread::hardware_concurrency()) + 1;
  const auto stage = finding.work.stage("searching", count);
  while (!rest.empty() || !running.empty()) {
    if (!rest.empty() && running.size() < most) {
      const Stretch piece = take_piece(steps, rest, backward);
      TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source, steps.open_at(piece.from));
      running.push_back(
          {piece, begin([look = Piece(finding.trace, question, piece.end, finding.work),
                         from = std::move(source)]() mutable {
             return look.look(std::move(from));
           })});
      continue;
    }
    TW_ASSIGN_OR_RETURN(const std::vector<StepHit> found, running.front().found.get());
    const Stretch& done = running.front().piece;
    stage->at(backward ? count - done.from : done.end);
    running.pop_front();
    for (const StepHit& hit : found)
      if (!finding.visit(hit)) return {};
  }
  return {};
}

}  // namespace tracewell::trace
