#include "trace/step_reader.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/check.h"
#include "timeline/moment.h"

namespace tracewell::trace {
namespace {

constexpr uint64_t kReadOnMax = 256;  // steps that are cheaper to read than to jump over

}  // namespace

Result<StepReader> StepReader::open(const StepIndex& steps) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source, steps.open_at(0));
  TW_CHECK(source->steps() != nullptr);
  return StepReader(std::move(source));
}

Source& StepReader::source() {
  batch_.clear();
  return *source_;
}

Result<const Event*> StepReader::step(uint64_t seq) {
  while (!batch_.empty() && batch_.events().front().seq <= seq) {
    for (const Event& event : batch_.events())
      if (event.seq == seq && std::holds_alternative<Step>(event.body)) return &event;
    if (seq - batch_.events().back().seq > kReadOnMax) break;
    TW_ASSIGN_OR_RETURN(const bool more, source_->next(batch_));
    if (!more) break;
  }
  // Who goes backwards will want those before it, too.
  const uint64_t front = batch_.empty() ? 0 : batch_.events().front().seq;
  if (seq >= front || front - seq > kReadOnMax)
    return timeline::read_step(*source_, seq, batch_);
  TW_RETURN_IF_ERROR(source_->steps()->seek(front - std::min(front, kReadOnMax)));
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool more, source_->next(batch_));
    if (!more) return {Errc::Corrupt, "the trace ends before its last step"};
    for (const Event& event : batch_.events())
      if (event.seq == seq && std::holds_alternative<Step>(event.body)) return &event;
  }
}

}  // namespace tracewell::trace
