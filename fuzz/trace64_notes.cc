// Notes of an x64dbg trace that somebody else wrote: two bytes of their size, they themselves, the
// trace. Answers may be wrong; nothing may be read that is not there, and reading must end: where
// the trace has no step although the notes say so, with that error.
#include <algorithm>

#include "format_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tracewell;
  if (size < 2) return 0;
  const Bytes all(data + 2, size - 2);
  const size_t notes_size = std::min<size_t>(all.size(), data[0] | data[1] << 8);
  const std::vector<uint8_t> notes(all.begin(), all.begin() + static_cast<ptrdiff_t>(notes_size));
  const Bytes trace = all.subspan(notes_size);
  formats::OpenOptions options;
  options.notes = {notes, trace.size()};
  ProblemLog problems;
  auto source = formats::open_source(fuzz::input_of(trace), "trace64", options, problems);
  if (!source.ok()) return 0;
  StepIndex& steps = *(*source)->steps();
  fuzz::require(steps.count() <= trace.size());
  StepIndex::Moment moment;
  for (uint64_t i = 0; i < 8 && steps.count() != 0; ++i)
    fuzz::require(steps.state_before(i * 0x9e3779b97f4a7c15 % steps.count(), moment).ok());
  Batch batch;
  while (true) {
    const auto more = (*source)->next(batch);
    fuzz::require(more.ok() || more.error().code == Errc::Corrupt);
    if (!more.ok() || !*more) break;
  }
  return 0;
}
