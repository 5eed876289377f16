// Which logs that `ctctrl -D` wrote a report is of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hooks/log/log_owner.h"

namespace tracewell::hooks {

/// `list` is what trcrpt -l takes: names with commas or blanks between them, or all; then the
/// folder, behind a colon, if it is not default_component_folder(). Names are patterns, as for
/// ctctrl -c. The logs in order of their names, as found in the folder. NotFound: a pattern has
/// none.
Result<std::vector<LogName>> component_logs(std::string_view list);

}  // namespace tracewell::hooks
