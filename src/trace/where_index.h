// `--where pc == …` need not read all steps: the index of the trace knows where each place was
// executed.
#pragma once

#include <memory>
#include <optional>

#include "timeline/timeline.h"
#include "trace/file.h"
#include "trace/images/address_names.h"
#include "trace/selection.h"

namespace tracewell::trace {

/// The index beside a trace just opened, when a selection may do with it: it is there, whole and of
/// this trace as it is, and reading only some of the steps leaves no problem untold. None is made.
std::optional<timeline::Timeline> index_for(const OpenTrace& trace,
                                            const SelectionOptions& selection);

/// `source`, which is that trace, becomes those of its steps for which the selection can hold, if
/// these are few; select_events() then selects the same of them as of all.
void leave_out_by_index(std::unique_ptr<Source>& source, std::optional<timeline::Timeline> index,
                        const SelectionOptions& selection, const AddressNames& names);

}  // namespace tracewell::trace
