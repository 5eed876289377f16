#include "trace/selected_events.h"

#include "filter/limit.h"
#include "filter/step_notes.h"
#include "filter/step_numbers.h"
#include "trace/images/image_names.h"
#include "trace/notes_file.h"
#include "trace/told_problems.h"
#include "trace/where_index.h"

namespace tracewell::trace {

Result<SelectedEvents> SelectedEvents::open(const InputOptions& input,
                                            const SelectionOptions& selection,
                                            const ImageOptions& images, const Work& work) {
  SelectedEvents out(input, selection);
  TW_ASSIGN_OR_RETURN(out.trace_, open_trace(input, work));
  out.index_ = index_for(out.trace_, selection);
  TW_ASSIGN_OR_RETURN(out.names_, names_of_images(out.trace_.source, images, work));
  return out;
}

Status SelectedEvents::begin(uint64_t limit, std::string_view what, const Work& work) {
  TraceNotes notes = notes_of(trace_, input_.path, work);
  leave_out_by_index(trace_.source, std::move(index_), selection_, names_);
  trace_.source = filter::with_notes(filter::with_step_numbers(std::move(trace_.source)),
                                     std::move(notes.notes), notes.beside);
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source,
                      select_events(std::move(trace_.source), selection_, *trace_.problems,
                                    input_.strict, what, work, {names_.module, names_.symbol}));
  source_ = std::make_unique<CountingSource>(filter::limited(std::move(source), limit));
  return {};
}

void SelectedEvents::tell_doubts(const Work& work) const {
  tell_problems(trace_, input_.path, work);
  tell_losses(trace_, selection_, input_.path, work);
}

}  // namespace tracewell::trace
