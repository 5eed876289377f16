// What there is to tell a user beside what a command does: sentences, for Work::notice.
#pragma once

#include <optional>

#include "base/files/folder.h"
#include "hooks/control/control.h"
#include "model/work.h"

namespace tracewell::hooks {

/// Names sessions whose collector has ended before them, and what to do.
void tell_collectors(const Control& control, const Work& work);
/// The same, where there is a control file; no trace is there without one.
void tell_collectors(const Work& work);

/// Says how many hooks found no room in their buffers, and what to do. Looks at the heads of the
/// log's packets alone, until the work is stopped. Nothing without a log.
void tell_lost_hooks(const std::optional<Folder>& log, const Work& work);

/// Names programs whose hooks the trace does not see, and what to do.
void tell_unseen_programs(const Work& work);
/// The same: that the control file is not where it usually is, and why.
void tell_control_folder(const Work& work);

}  // namespace tracewell::hooks
