#include "filter/select.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "filter/step_gaps.h"
#include "model/lost_count.h"
#include "model/process_table.h"
#include "model/thread_registers.h"

namespace tracewell::filter {
namespace {

class SelectSource final : public Source {
 public:
  SelectSource(std::unique_ptr<Source> source, Selection selection)
      : source_(std::move(source)),
        selection_(std::move(selection)),
        processes_(source_->catalog()) {}

  const Catalog& catalog() const override { return source_->catalog(); }

  Result<bool> next(Batch& batch) override {
    TW_RETURN_IF_ERROR(begin());
    while (!done_) {
      TW_ASSIGN_OR_RETURN(const bool more, source_->next(batch));
      if (!more) return tell_lost_end(batch);
      // Only seekable sources promise that numbers ascend. A mark may have its step's number.
      const Event& last = batch.events().back();
      if (seekable_ &&
          (last.seq > selection_.to || (last.seq == selection_.to && !is_aside(last))))
        done_ = true;
      // Whoever asks for the next batch may wait for it until the end of the trace.
      if (!pick(batch) || stopped()) {
        done_ = true;
        batch.clear();
        return {Errc::Stopped, "interrupted"};
      }
      if (!batch.empty()) return true;
    }
    done_ = true;
    batch.clear();
    return false;
  }

 private:
  Status begin() {
    if (begun_) return {};
    begun_ = true;
    Seekable* seekable = source_->seekable();
    seekable_ = seekable != nullptr;
    if (!seekable) return {};
    done_ = selection_.from > selection_.to;
    return seekable->seek(std::min(selection_.from, seekable->count()));
  }

  /// The event that is looked at now.
  size_t at() const { return keep_.size() - 1; }
  bool stopped() const { return selection_.work.is_stopped(); }

  /// False: nobody waits for it.
  bool pick(Batch& batch) {
    bring_back(batch);
    keep_.clear();
    told_.clear();
    const RegisterLayout& layout = catalog().registers;
    for (Event& event : batch.events()) {
      if (selection_.where && stopped()) return false;
      if (selection_.where) selection_.where->learn(event);
      processes_.learn(event);  // a change that says whose a thread is may not stay
      if (!is_change(event)) event.process = processes_.process_of(event);
      const bool is_step = std::holds_alternative<Step>(event.body);
      if (is_step && is_full(event)) forget();
      auto* const change = std::get_if<Change>(&event.body);
      const bool keep = change ? wanted_change(event, *change) : wanted(event);
      keep_.push_back(keep);
      if (!keep) {
        steps_dropped_ |= is_step && step_stays_;
        gaps_.dropped(layout, event);
        continue;
      }
      const bool is_lost = std::holds_alternative<Lost>(event.body);
      if (is_lost || !is_aside(event)) tell_borders(event, batch);
      if (is_step && std::exchange(forgot_, false))
        told_.push_back(
            {at(), event.seq, Mark{"registers of too many threads are forgotten", true}});
      const uint64_t missing = gaps_.kept(layout, event, batch);
      if (missing != 0 && selection_.gaps) ++*selection_.gaps;
      if (missing != 0 && selection_.tells_gaps)
        told_.push_back({at(), event.seq, Lost{missing, "left out"}});
      if (is_step) note_gap(std::get<Step>(event.body), missing != 0 && selection_.tells_gaps);
    }
    keep_notes(batch);
    kept_.clear();
    for (size_t i = 0; i < keep_.size(); ++i)
      if (keep_[i]) kept_.push_back(i);
    size_t next = 0;
    batch.keep_if([&](const Event&) { return keep_[next++]; });
    tell(batch);
    return true;
  }

  /// Other threads wrote memory as well. Where a Lost tells of the gap, nobody needs to know more;
  /// and of what is in front of the first step, nobody knows anything.
  void note_gap(Step& step, bool is_told) {
    step.gap_before |= std::exchange(steps_dropped_, false);
    step.gap_before &= std::exchange(step_stays_, true) && !is_told;
  }

  /// In front of an event that stays: of those that do not, what is missing and, of steps, the last
  /// session that began. A loss says nothing of registers, so sessions wait for the next step.
  void tell_borders(const Event& event, Batch& batch) {
    stays_ = true;
    const bool is_lost = std::holds_alternative<Lost>(event.body);
    for (Border& one : borders_) {
      if (one.session && is_lost) continue;
      const std::string_view text = batch.copy(std::string_view(one.text));
      if (one.session)
        told_.push_back({at(), event.seq, Mark{text, true}});
      else
        told_.push_back({at(), event.seq, Lost{one.lost, text}, one.tid, one.process,
                         one.time_ns});
    }
    std::erase_if(borders_, [&](const Border& one) { return !one.session || !is_lost; });
  }

  void hold_border(const Event& event) {
    const auto* lost = std::get_if<Lost>(&event.body);
    if (lost == nullptr) {
      std::erase_if(borders_, [](const Border& one) { return one.session; });
      const std::string_view text = std::get<Mark>(event.body).text;
      borders_.push_back({true, 0, std::string(text), event.seq, 0, 0, {}});
      return;
    }
    const uint64_t count = lost_count(lost->count);
    // A number that is known is not given up for one that is not.
    const auto before = std::ranges::find_if(borders_, [&](const Border& one) {
      return !one.session && (one.lost == 0) == (count == 0);
    });
    if (before == borders_.end()) {
      borders_.push_back({false, count, std::string(lost->why), event.seq, event.tid,
                          event.process, event.time_ns});
      return;
    }
    if (before->tid != event.tid) before->tid = before->process = 0;
    before->time_ns = event.time_ns;
    before->lost = lost_together(before->lost, count);
    before->seq = event.seq;
    if (before->text != lost->why && !before->text.ends_with(kMore)) before->text += kMore;
  }

  /// What is missing behind the last event that stays.
  bool tell_lost_end(Batch& batch) {
    done_ = true;
    batch.clear();
    if (!stays_) return false;
    for (const Border& one : borders_) {
      if (one.session) continue;
      Event& event = batch.add();
      event.seq = one.seq;
      event.tid = one.tid;
      event.process = one.process;
      event.time_ns = one.time_ns;
      event.body = Lost{one.lost, batch.copy(std::string_view(one.text))};
    }
    return !batch.empty();
  }

  bool is_full(const Event& event) const {
    return gaps_.is_full(catalog().registers, event) ||
           threads_.is_full(catalog().registers, event.tid);
  }

  /// Whoever gets what stays must not take for known what may have changed meanwhile.
  void forget() {
    threads_.clear();
    gaps_.clear();
    forgot_ = true;
    if (selection_.forgets) selection_.forgets();
  }

  /// What stands in front of events that stay, and of what is noted at steps: of gaps, those behind
  /// them.
  void tell(Batch& batch) {
    size_t from = batch.size();
    for (size_t i = 0; i < told_.size(); ++i) batch.add();
    const std::span<Event> events = batch.events();
    for (size_t to = events.size(); !told_.empty();) {
      events[--to] = events[--from];
      const size_t at = kept_[from];
      if (told_.back().at != at) continue;
      const uint64_t seq = events[to].seq;
      while (from > 0 && is_at_step(events[from - 1]) && events[from - 1].seq == seq)
        events[--to] = events[--from];
      while (!told_.empty() && told_.back().at == at) {
        Event& one = events[--to];
        one = Event();
        one.seq = seq;
        one.tid = told_.back().tid;
        one.process = told_.back().process;
        one.time_ns = told_.back().time_ns;
        std::visit([&](const auto& body) { one.body = body; }, told_.back().body);
        told_.pop_back();
      }
    }
  }

  static bool is_change(const Event& event) {
    return std::holds_alternative<Change>(event.body);
  }
  static bool is_aside(const Event& event) {
    return std::holds_alternative<Mark>(event.body) || std::holds_alternative<Lost>(event.body) ||
           is_change(event);
  }
  static bool is_note(const Event& event) {
    const auto* mark = std::get_if<Mark>(&event.body);
    return mark && !mark->session;
  }

  static bool is_at_step(const Event& event) { return is_note(event) || is_change(event); }

  /// A note belongs to the step behind it, and stays if that does. The step may be in the next
  /// batch.
  void keep_notes(const Batch& batch) {
    const std::span<const Event> events = batch.events();
    for (size_t at = 0; at < events.size(); ++at) {
      if (!std::holds_alternative<Step>(events[at].body) || !keep_[at]) continue;
      for (size_t note = at; note > 0 && is_at_step(events[note - 1]) &&
                             events[note - 1].seq == events[at].seq;
           --note)
        keep_[note - 1] = keep_[note - 1] || is_note(events[note - 1]);
    }
    size_t last = events.size();
    while (last > 0 && is_note(events[last - 1]) && !keep_[last - 1] &&
           events.size() - last < kNotesHeld)
      --last;
    for (const Event& event : events.subspan(last))
      held_.push_back({event, std::string(std::get<Mark>(event.body).text)});
  }

  void bring_back(Batch& batch) {
    for (size_t at = 0; at < held_.size(); ++at) {
      Event& event = batch.insert(at);
      event = held_[at].event;
      event.body = Mark{.text = batch.copy(std::string_view(held_[at].text))};
    }
    held_.clear();
  }

  /// What comes behind it has to know whose it is, answer or not: for whoever asked, nothing has
  /// happened then.
  bool wanted_change(Event& event, Change& change) {
    const bool inside = event.seq >= selection_.from && event.seq <= selection_.to;
    if (inside && (!selection_.where || selection_.where->matches(event))) return true;
    if (change.process == nullptr) return false;
    change.kind = Change::Kind::ProcessKnown;
    event.tid = 0;
    return true;
  }

  /// That a session began or something is missing is seldom an answer to `where`, but what comes
  /// after it cannot do without: nobody knows whether what is missing would have been an answer.
  bool wanted(const Event& event) {
    const bool inside = event.seq >= selection_.from && event.seq <= selection_.to;
    const auto* mark = std::get_if<Mark>(&event.body);
    if (mark && mark->session) {
      threads_.clear();
      steps_dropped_ = step_stays_ = false;
      forgot_ &= !inside;
    }
    if (!selection_.where) return inside;
    if ((mark && mark->session) || std::holds_alternative<Lost>(event.body)) {
      const bool answers = inside && selection_.where->matches(event);
      if (inside && !answers) hold_border(event);
      return answers;
    }
    const auto* step = std::get_if<Step>(&event.body);
    if (!step && !mark)  // sessions are of steps alone
      std::erase_if(borders_, [](const Border& one) { return one.session; });
    if (!step || !selection_.where->names_registers())
      return inside && selection_.where->matches(event);
    const RegisterLayout& layout = catalog().registers;
    RegisterState& state = threads_.of(layout, event.tid);
    for (const Step::RegisterChange& one : step->before) state.set(layout, one.index, one.value);
    const bool matches = inside && selection_.where->matches(event, &state);
    for (const Step::RegisterChange& one : step->registers) state.set(layout, one.index, one.value);
    return matches;
  }

  static constexpr size_t kNotesHeld = 64;
  static constexpr std::string_view kMore = ", and more";
  struct Border {
    bool session = false;
    uint64_t lost = 0;
    std::string text;
    uint64_t seq = 0;
    uint64_t tid = 0;  // of what is missing; 0 = not known, or of several
    uint32_t process = 0;
    std::optional<int64_t> time_ns;
  };
  struct Held {
    Event event;
    std::string text;
  };
  std::unique_ptr<Source> source_;
  Selection selection_;
  StepGaps gaps_;
  struct Told {
    size_t at = 0;     // the event behind it, in the batch as it was read
    uint64_t seq = 0;  // its number
    std::variant<Mark, Lost> body;
    uint64_t tid = 0;
    uint32_t process = 0;
    std::optional<int64_t> time_ns = {};
  };
  std::vector<bool> keep_;
  std::vector<size_t> kept_;  // numbers of events in the batch as it was read
  std::vector<Told> told_;  // in the batch
  /// Since the last event that stays: at most a session, a loss with a number, and one without.
  std::vector<Border> borders_;
  bool stays_ = false;           // some event did
  // Of the session: was a step dropped since the last one that stayed, if any did?
  bool step_stays_ = false, steps_dropped_ = false;
  std::vector<Held> held_;  // notes at the end of a batch, of which nobody knows yet
  ThreadRegisters threads_;
  ProcessTable processes_;
  bool forgot_ = false;  // and has not said so
  bool begun_ = false;
  bool seekable_ = false;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<Source> select(std::unique_ptr<Source> source, Selection selection) {
  if (selection.everything()) return source;
  return std::make_unique<SelectSource>(std::move(source), std::move(selection));
}

}  // namespace tracewell::filter
