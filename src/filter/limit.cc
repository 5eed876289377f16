#include "filter/limit.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tracewell::filter {
namespace {

class LimitedSource final : public Source {
 public:
  LimitedSource(std::unique_ptr<Source> source, uint64_t limit)
      : source_(std::move(source)), left_(limit) {}

  const Catalog& catalog() const override { return source_->catalog(); }

  Result<bool> next(Batch& batch) override {
    while (left_ != 0 && !ended_) {
      TW_ASSIGN_OR_RETURN(const bool more, source_->next(batch));
      ended_ = !more;
      bring_back(batch);
      if (more) hold_end(batch);
      cut(batch);
      if (!batch.empty()) return true;
    }
    batch.clear();
    return false;
  }

 private:
  static constexpr size_t kHeldMax = 64;
  struct Held {
    Event event;
    std::string text;
  };

  static bool is_aside(const Event& event) {
    return std::holds_alternative<Mark>(event.body) || std::holds_alternative<Lost>(event.body);
  }
  static std::string_view text_of(const Event& event) {
    const auto* mark = std::get_if<Mark>(&event.body);
    return mark ? mark->text : std::get<Lost>(event.body).why;
  }

  /// What the next batch may have the step of.
  void hold_end(Batch& batch) {
    const std::span<const Event> events = batch.events();
    size_t end = events.size();
    while (end > 0 && is_aside(events[end - 1]) && events.size() - end < kHeldMax) --end;
    for (const Event& event : events.subspan(end))
      held_.push_back({event, std::string(text_of(event))});
    keep(batch, end);
  }

  void bring_back(Batch& batch) {
    for (size_t at = 0; at < held_.size(); ++at) {
      Event& event = batch.insert(at);
      event = held_[at].event;
      const std::string_view text = batch.copy(std::string_view(held_[at].text));
      if (auto* mark = std::get_if<Mark>(&event.body))
        mark->text = text;
      else
        std::get<Lost>(event.body).why = text;
    }
    held_.clear();
  }

  void cut(Batch& batch) {
    const std::span<const Event> events = batch.events();
    counts_.assign(events.size(), true);
    std::optional<uint64_t> next;  // that is no aside
    for (size_t at = events.size(); at-- > 0;) {
      const auto* mark = std::get_if<Mark>(&events[at].body);
      if (std::holds_alternative<Change>(events[at].body))
        counts_[at] = !is_only_known(events[at]) && next != events[at].seq;
      else if (is_aside(events[at]))
        counts_[at] = !(mark && mark->session) && next != events[at].seq;
      else
        next = events[at].seq;
    }
    size_t end = 0;
    for (; end < events.size() && left_ != 0; ++end)
      if (counts_[end]) --left_;
    keep(batch, end);
  }

  static void keep(Batch& batch, size_t end) {
    size_t at = 0;
    batch.keep_if([&](const Event&) { return at++ < end; });
  }

  std::unique_ptr<Source> source_;
  uint64_t left_;
  bool ended_ = false;
  std::vector<Held> held_;
  std::vector<bool> counts_;  // events of the batch
};

}  // namespace

std::unique_ptr<Source> limited(std::unique_ptr<Source> source, uint64_t limit) {
  if (limit == UINT64_MAX) return source;
  return std::make_unique<LimitedSource>(std::move(source), limit);
}

}  // namespace tracewell::filter
