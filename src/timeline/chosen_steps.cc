#include "timeline/chosen_steps.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/begin_anew.h"
#include "timeline/moment.h"

namespace tracewell::timeline {
namespace {

// To go to a step takes as long as to read so many, or less.
constexpr uint64_t kStepsOfJump = 1024;
// To find out what a thread's registers did takes a look at each of its turns.
constexpr uint64_t kStepsOfTurn = 8192;
constexpr size_t kThreadsAsked = 512;  // readers keep what was told of somewhat more
constexpr uint64_t kStepsAtOnce = uint64_t{1} << 22;  // steps that are looked for at once

class ChosenSteps final : public Source, public Seekable {
 public:
  ChosenSteps(std::unique_ptr<Source> source, Timeline index, std::vector<uint64_t> steps)
      : source_(std::move(source)),
        index_(std::move(index)),
        steps_(std::move(steps)),
        one_thread_(index_.threads().size() <= 1) {}

  const Catalog& catalog() const override { return source_->catalog(); }
  Seekable* seekable() override { return this; }
  StepIndex* steps() override { return source_->steps(); }

  uint64_t count() const override { return index_.steps(); }
  Status seek(uint64_t seq) override {
    from_ = seq;
    at_ = static_cast<size_t>(std::ranges::lower_bound(steps_, seq) - steps_.begin());
    session_.reset();
    return {};
  }

  Result<bool> next(Batch& batch) override {
    batch.clear();
    if (at_ == steps_.size()) return false;
    const uint64_t seq = steps_[at_++];
    const uint64_t session = index_.session_of(seq).first;
    marks_.clear();
    if (session_ != session) {
      session_ = session;
      begin_anew(last_);
      next_ = session;
      if (session >= from_) TW_RETURN_IF_ERROR(read_marks(session));
    }
    TW_RETURN_IF_ERROR(read_step(*source_, seq, batch));
    batch.keep_if([&](const Event& event) {
      return event.seq == seq && std::holds_alternative<Step>(event.body);
    });
    tell_before(batch.events().front(), std::max(session, from_), batch);
    std::get<Step>(batch.events().front().body).gap_before |= seq != std::exchange(next_, seq + 1);
    for (size_t at = 0; at < marks_.size(); ++at) {
      Event& event = batch.insert(at);
      event = marks_.events()[at];
      auto& mark = std::get<Mark>(event.body);
      mark.text = batch.copy(mark.text);
    }
    return true;
  }

 private:
  /// A thread's last step that was handed out.
  struct Last {
    uint64_t seq = 0;
    bool after_known = true;
    std::vector<uint32_t> told;  // registers that it told the new values of
  };
  /// The first step of those of a list that is not less than `from`.
  struct Found {
    bool asked = false;
    uint64_t from = 0;
    std::optional<uint64_t> at;
  };

  /// That a session begins, in front of its first step.
  Status read_marks(uint64_t session) {
    TW_RETURN_IF_ERROR(source_->steps()->seek(session));
    TW_RETURN_IF_ERROR(source_->next(marks_));
    bool in_front = true;
    marks_.keep_if([&](const Event& event) {
      in_front &= !std::holds_alternative<Step>(event.body);
      const auto* mark = std::get_if<Mark>(&event.body);
      return in_front && mark && mark->session;
    });
    return {};
  }

  /// Behind a jump a step tells all that is known. What is news is what its thread's steps since
  /// its last one here have told; of its first one, since `start`, that is everything.
  void tell_before(Event& event, uint64_t start, Batch& batch) {
    auto& step = std::get<Step>(event.body);
    const auto [found, is_first] = last_.try_emplace(event.tid);
    Last& last = found->second;
    const uint64_t since = is_first ? start : last.seq + 1;
    const bool any_left_out = index_.next_step_of(event.tid, since).value_or(event.seq) < event.seq;
    told_.clear();
    for (const Step::RegisterChange& one : step.before)
      if (is_first || is_news(one.index, last, event)) told_.push_back(one);
    if (any_left_out) std::ranges::stable_sort(told_, {}, &Step::RegisterChange::index);
    step.before = batch.copy_array(std::span<const Step::RegisterChange>(told_));
    last = {event.seq, step.after_known, {}};
    for (const Step::RegisterChange& one : step.registers) last.told.push_back(one.index);
  }

  bool is_news(uint32_t index, const Last& last, const Event& event) {
    // What it left and did not tell is told by a later one.
    const bool open = !last.after_known && std::ranges::find(last.told, index) == last.told.end();
    return changes(index, ChangedBy::Instruction, event.tid, last.seq + (open ? 0 : 1),
                   event.seq) ||
           changes(index, ChangedBy::Others, event.tid, last.seq + 1, event.seq + 1);
  }

  /// At a step of that thread, from `from` to before `end`?
  bool changes(uint32_t index, ChangedBy by, uint64_t tid, uint64_t from, uint64_t end) {
    while (from < end) {
      const auto at = next_change(index, by, from);
      if (!at || *at >= end) return false;
      if (one_thread_ || index_.thread_of(*at) == tid) return true;
      const auto own = index_.next_step_of(tid, *at + 1);
      if (!own) return false;
      from = *own;
    }
    return false;
  }

  /// Registers that hardly ever change would otherwise be looked for through all of the index, for
  /// each step.
  std::optional<uint64_t> next_change(uint32_t index, ChangedBy by, uint64_t from) {
    const uint64_t key = register_key(index, by);
    if (key >= found_.size()) found_.resize(key + 1);
    Found& found = found_[key];
    if (!found.asked || from < found.from || (found.at && *found.at < from))
      found = {true, from, index_.next_change(index, by, from)};
    return found.at;
  }

  std::unique_ptr<Source> source_;
  Timeline index_;
  std::vector<uint64_t> steps_;
  bool one_thread_;
  size_t at_ = 0;
  uint64_t from_ = 0;
  std::optional<uint64_t> session_;  // by its first step
  uint64_t next_ = 0;  // behind the last step that was handed out
  std::unordered_map<uint64_t, Last> last_;  // by thread, in that session
  std::vector<Found> found_;                 // by register_key()
  std::vector<Step::RegisterChange> told_;
  Batch marks_;
};

}  // namespace

std::optional<std::vector<uint64_t>> few_executions(const Timeline& index,
                                                    std::span<const AddressRange> places,
                                                    uint64_t from, uint64_t to) {
  const uint64_t end = to < index.steps() ? to + 1 : index.steps();
  const size_t threads = index.threads().size();
  if (threads > kThreadsAsked) return std::nullopt;
  const uint64_t turns_max = index.steps() / kStepsOfTurn;
  if (threads > 1 && index.thread_runs(turns_max) > turns_max) return std::nullopt;
  const uint64_t most = from < end ? (end - from) / kStepsOfJump : 0;
  std::vector<uint64_t> out;
  for (uint64_t at = from; at < end; at += std::min(kStepsAtOnce, end - at)) {
    const size_t before = out.size();
    for (const AddressRange& one : places) {
      const std::vector<uint64_t> some =
          index.executions(one, at, at + std::min(kStepsAtOnce, end - at));
      out.insert(out.end(), some.begin(), some.end());
      if (out.size() > most) return std::nullopt;
    }
    std::sort(out.begin() + static_cast<ptrdiff_t>(before), out.end());
  }
  return out;
}

std::unique_ptr<Source> chosen_steps(std::unique_ptr<Source> source, Timeline index,
                                     std::vector<uint64_t> steps) {
  return std::make_unique<ChosenSteps>(std::move(source), std::move(index), std::move(steps));
}

}  // namespace tracewell::timeline
