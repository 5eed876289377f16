#include "filter/select.h"

#include <algorithm>

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
      // Only seekable sources promise that numbers ascend.
      if (seekable_ && batch.events().back().seq >= selection_.to) done_ = true;
      batch.keep_if([this](const Event& event) { return wanted(event); });
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

  bool wanted(const Event& event) const {
    return event.seq >= selection_.from && event.seq <= selection_.to &&
           (!selection_.where || selection_.where->matches(event));
  }

  std::unique_ptr<Source> source_;
  Selection selection_;
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
