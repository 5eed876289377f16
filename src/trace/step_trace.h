// What the commands about traces of steps have in common: random access, and the index.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "machine/usage.h"
#include "model/stream.h"
#include "model/work.h"
#include "timeline/timeline.h"
#include "trace/file.h"
#include "trace/images/address_names.h"
#include "trace/images/images.h"
#include "trace/open_steps.h"
#include "trace/step_reader.h"

namespace tracewell::trace {

/// Those steps with an index, the notes of people, and the names of images. Nothing of it changes
/// once it is open: any number of threads may ask, each with a reader of its own.
struct StepTrace : OpenSteps {
  std::unique_ptr<timeline::Timeline> timeline;
  std::vector<Note> notes;  // by step
  AddressNames names;       // of the images that were asked for

  /// Of its own, for one question.
  Result<StepReader> reader() const { return StepReader::open(steps()); }
  /// To be asked when the answers are there: an index that is damaged, and could not be made anew
  /// on the way, is an error.
  Status answers_hold() const;
};

/// The trace, its index (FILE.tidx, which is made or extended when need be; where it cannot be
/// written, and for what is not a file, it is kept in memory), and its notes. Unsupported when the
/// trace is not one of executed instructions.
Result<StepTrace> open_step_trace(const InputOptions& options, const ImageOptions& images,
                                  const Work& work);
/// InvalidArgument, with those that there are, when no step is of that thread.
Status check_thread(const StepTrace& trace, uint64_t tid);
/// InvalidArgument when --from is behind --to; NotFound when it is behind the last step.
Status check_steps(const StepTrace& trace, uint64_t from, uint64_t to);
/// By its name or that of a part of one, as in --where with or without a $ before it;
/// InvalidArgument.
Result<machine::RegisterPlace> named_register(const Catalog& catalog, std::string_view name);
/// The same in two parts, of a trace that is open: without notes; and those.
Result<StepTrace> index_step_trace(OpenTrace trace, const InputOptions& options, const Work& work,
                                   const HowToOpen& how = {});
void read_notes(StepTrace& trace, const std::string& path, const Work& work);

}  // namespace tracewell::trace
