// What the commands about traces of steps have in common: random access, and the index.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/images.h"
#include "cli/text_sink.h"
#include "cli/trace_files.h"
#include "machine/usage.h"
#include "model/batch.h"
#include "model/stream.h"
#include "timeline/timeline.h"

namespace tracewell::cli {

struct StepTrace {
  OpenTrace trace;
  std::unique_ptr<Source> stored;  // when the format has no random access: all of it, in memory
  Source* source = nullptr;        // with steps()
  std::unique_ptr<timeline::Timeline> timeline;
  std::vector<Note> notes;  // by step
  AddressNames names;       // of the images that were asked for

  const Catalog& catalog() const { return source->catalog(); }
  /// A step that stays until the next call. It remembers where it is, so that steps that follow
  /// each other are read once.
  Result<const Event*> step(uint64_t seq);
  /// To be asked when the answers are there: an index that is damaged, and could not be made anew
  /// on the way, is an error.
  Status answers_hold() const;

 private:
  Batch batch_;
};

/// Opens the trace and its index, FILE.tidx, which is made or extended when need be; where it
/// cannot be written, and for what is not a file, it is kept in memory. Unsupported when the trace
/// is not one of executed instructions. Problems of the trace are told.
Result<StepTrace> open_step_trace(const InputOptions& options, const ImageOptions& images = {});
/// InvalidArgument, with those that there are, when no step is of that thread.
Status check_thread(const StepTrace& trace, uint64_t tid);
/// InvalidArgument when --from is behind --to; NotFound when it is behind the last step.
Status check_steps(const StepTrace& trace, uint64_t from, uint64_t to);
/// By its name or that of a part of one, as in --where with or without a $ before it;
/// InvalidArgument.
Result<machine::RegisterPlace> named_register(const Catalog& catalog, std::string_view name);
/// The same of a trace that is open.
Result<StepTrace> index_step_trace(OpenTrace trace, const InputOptions& options,
                                   const OpenWatch& watch = {});

}  // namespace tracewell::cli
