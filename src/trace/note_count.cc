#include "trace/note_count.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/text/counted.h"
#include "base/text/text.h"
#include "model/source_over.h"

namespace tracewell::trace {
namespace {

bool is_note(const Event& event) {
  const auto* mark = std::get_if<Mark>(&event.body);
  return mark != nullptr && !mark->session;
}

class CountedNotes final : public SourceOver {
 public:
  CountedNotes(std::unique_ptr<Source> source, std::shared_ptr<uint64_t> count)
      : SourceOver(std::move(source)), count_(std::move(count)) {}
  Result<bool> next(Batch& batch) override {
    auto more = source_->next(batch);
    *count_ += static_cast<uint64_t>(std::ranges::count_if(batch.events(), is_note));
    return more;
  }

 private:
  std::shared_ptr<uint64_t> count_;
};

}  // namespace

std::unique_ptr<Source> NoteCount::of_all(std::unique_ptr<Source> source,
                                          const std::vector<Note>& notes) {
  if (source->seekable() == nullptr)
    return std::make_unique<CountedNotes>(std::move(source), all_);
  *all_ = notes.size();
  return source;
}

std::unique_ptr<Source> NoteCount::of_selected(std::unique_ptr<Source> source) {
  return std::make_unique<CountedNotes>(std::move(source), selected_);
}

void NoteCount::tell(const std::string& output, const Work& work) const {
  if (*selected_ >= *all_) return;
  const uint64_t dropped = *all_ - *selected_;
  work.tell(fmt::format("{}: {} of steps that were not selected {} left out", printable(output),
                        counted(dropped, "note"), dropped == 1 ? "is" : "are"));
}

}  // namespace tracewell::trace
