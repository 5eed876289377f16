#include "filter/step_notes.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "model/source_over.h"

namespace tracewell::filter {
namespace {

class NotedSource final : public SourceOver {
 public:
  NotedSource(std::unique_ptr<Source> source, std::vector<Note> notes, bool instead)
      : SourceOver(std::move(source)), notes_(std::move(notes)), instead_(instead) {}

  Result<bool> next(Batch& batch) override {
    TW_ASSIGN_OR_RETURN(const bool more, source_->next(batch));
    if (!more) return put_rest(batch);
    if (instead_) batch.keep_if([](const Event& event) { return !is_note(event); });
    const bool by_number = source_->seekable() != nullptr;
    for (size_t at = 0; at < batch.size(); ++at) {
      const Event& event = batch.events()[at];
      if (!std::holds_alternative<Step>(event.body)) continue;
      const uint64_t seq = event.seq;
      const uint64_t step = by_number ? seq : next_;
      next_ = step + 1;
      const auto [first, end] = std::ranges::equal_range(notes_, step, {}, &Note::step);
      for (auto note = first; note != end; ++note) put(batch.insert(at++), *note, seq, batch);
    }
    return true;
  }

 private:
  static bool is_note(const Event& event) {
    const auto* mark = std::get_if<Mark>(&event.body);
    return mark != nullptr && !mark->session;
  }
  static void put(Event& event, const Note& note, uint64_t seq, Batch& batch) {
    event = {};
    event.seq = seq;
    event.body = Mark{.text = batch.copy(std::string_view(note.text))};
  }

  bool put_rest(Batch& batch) {
    if (at_end_) return false;
    at_end_ = true;
    batch.clear();
    if (const Seekable* seekable = source_->seekable()) next_ = seekable->count();
    for (auto note = std::ranges::lower_bound(notes_, next_, {}, &Note::step);
         note != notes_.end(); ++note)
      put(batch.add(), *note, next_, batch);
    return !batch.empty();
  }

  std::vector<Note> notes_;
  bool instead_;
  uint64_t next_ = 0;  // the number of the step behind what was read
  bool at_end_ = false;
};

}  // namespace

std::unique_ptr<Source> with_notes(std::unique_ptr<Source> source, std::vector<Note> notes,
                                   bool instead) {
  if (notes.empty() && !instead) return source;
  return std::make_unique<NotedSource>(std::move(source), std::move(notes), instead);
}

}  // namespace tracewell::filter
