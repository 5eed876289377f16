#include "filter/select.h"

#include <algorithm>
#include <vector>

#include "filter/step_gaps.h"

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
    keep_.clear();
    for (Event& event : batch.events()) {
      const bool keep = wanted(event);
      keep_.push_back(keep);
      if (keep)
        gaps_.kept(event, batch);
      else
        gaps_.dropped(event);
    }
    size_t at = 0;
    batch.keep_if([&](const Event&) { return keep_[at++]; });
  }

  /// The mark of a session is no answer to `where`, but what comes after it cannot do without.
  bool wanted(const Event& event) const {
    const auto* mark = std::get_if<Mark>(&event.body);
    if (mark && mark->session) return event.seq >= selection_.from && event.seq <= selection_.to;
    return event.seq >= selection_.from && event.seq <= selection_.to &&
           (!selection_.where || selection_.where->matches(event));
  }

  std::unique_ptr<Source> source_;
  Selection selection_;
  StepGaps gaps_;
  std::vector<bool> keep_;
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
