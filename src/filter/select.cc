#include "filter/select.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "filter/step_gaps.h"
#include "model/thread_registers.h"

namespace tracewell::filter {
namespace {

class SelectSource final : public Source {
 public:
  SelectSource(std::unique_ptr<Source> source, Selection selection)
      : source_(std::move(source)), selection_(std::move(selection)) {}

  const Catalog& catalog() const override { return source_->catalog(); }

  Result<bool> next(Batch& batch) override {
    TW_RETURN_IF_ERROR(begin());
    while (!done_) {
      TW_ASSIGN_OR_RETURN(const bool more, source_->next(batch));
      if (!more) break;
      // Only seekable sources promise that numbers ascend. A mark may have its step's number.
      const Event& last = batch.events().back();
      const bool is_mark = std::holds_alternative<Mark>(last.body) ||
                           std::holds_alternative<Lost>(last.body);
      if (seekable_ && (last.seq > selection_.to || (last.seq == selection_.to && !is_mark)))
        done_ = true;
      pick(batch);
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

  void pick(Batch& batch) {
    bring_back(batch);
    keep_.clear();
    told_.clear();
    const RegisterLayout& layout = catalog().registers;
    for (Event& event : batch.events()) {
      if (std::holds_alternative<Step>(event.body) && is_full(event)) forget();
      const bool keep = wanted(event);
      keep_.push_back(keep);
      if (!keep) {
        gaps_.dropped(layout, event);
        continue;
      }
      if (std::holds_alternative<Step>(event.body) && std::exchange(forgot_, false))
        told_.push_back({event.seq, Mark{"registers of too many threads are forgotten", true}});
      const uint64_t missing = gaps_.kept(layout, event, batch);
      if (missing != 0 && selection_.gaps) ++*selection_.gaps;
      if (missing != 0 && selection_.tells_gaps)
        told_.push_back({event.seq, Lost{missing, "left out"}});
    }
    keep_notes(batch);
    size_t at = 0;
    batch.keep_if([&](const Event&) { return keep_[at++]; });
    tell(batch);
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

  /// What stands right in front of steps that stay: of gaps, those behind them.
  void tell(Batch& batch) {
    size_t from = batch.size();
    for (size_t i = 0; i < told_.size(); ++i) batch.add();
    const std::span<Event> events = batch.events();
    for (size_t to = events.size(); !told_.empty();) {
      events[--to] = events[--from];
      if (!std::holds_alternative<Step>(events[to].body)) continue;
      for (const uint64_t seq = events[to].seq; !told_.empty() && told_.back().seq == seq;) {
        Event& one = events[--to];
        one = Event();
        one.seq = seq;
        std::visit([&](const auto& body) { one.body = body; }, told_.back().body);
        told_.pop_back();
      }
    }
  }

  static bool is_note(const Event& event) {
    const auto* mark = std::get_if<Mark>(&event.body);
    return mark && !mark->session;
  }

  /// A note belongs to the step behind it, and stays if that does. The step may be in the next
  /// batch.
  void keep_notes(const Batch& batch) {
    const std::span<const Event> events = batch.events();
    for (size_t at = 0; at < events.size(); ++at) {
      if (!std::holds_alternative<Step>(events[at].body) || !keep_[at]) continue;
      for (size_t note = at; note > 0 && is_note(events[note - 1]) &&
                             events[note - 1].seq == events[at].seq;
           --note)
        keep_[note - 1] = true;
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

  /// The mark of a session is no answer to `where`, but what comes after it cannot do without.
  bool wanted(const Event& event) {
    const bool inside = event.seq >= selection_.from && event.seq <= selection_.to;
    const auto* mark = std::get_if<Mark>(&event.body);
    if (mark && mark->session) {
      threads_.clear();
      forgot_ &= !inside;
      return inside;
    }
    if (!selection_.where) return inside;
    const auto* step = std::get_if<Step>(&event.body);
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
  struct Held {
    Event event;
    std::string text;
  };
  std::unique_ptr<Source> source_;
  Selection selection_;
  StepGaps gaps_;
  struct Told {
    uint64_t seq = 0;  // of the step behind it
    std::variant<Mark, Lost> body;
  };
  std::vector<bool> keep_;
  std::vector<Told> told_;  // in the batch
  std::vector<Held> held_;  // notes at the end of a batch, of which nobody knows yet
  ThreadRegisters threads_;
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
