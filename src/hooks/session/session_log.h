// What commands and the collector of a session do to its log.
#pragma once

#include <tracewell/hook_layout.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "hooks/control/control.h"
#include "hooks/log/log_folder.h"
#include "hooks/session/rest.h"

namespace tracewell::hooks {

Uuid uuid_of(const tracewell_channel& channel);
Instant start_of(const tracewell_channel& channel);
/// Is it the log of the channel's session? All logs of a user's sessions have the same owner, and
/// where others may write, a log may have the name of another.
bool is_log_of(const Folder& log, const Control& control, unsigned channel);

/// Of tracewell_channel::stop_when_full: it is full.
constexpr uint32_t kLogIsFull = 2;
/// tracewell_channel::stopping.
constexpr uint32_t kStop = 1;
constexpr uint32_t kStopDiscarding = 2;  // what is left stays in the rings

Status tell(const tracewell_channel& channel, const Folder& folder, std::string_view text);
/// It counts what it drops in the control file, from what stands there on.
Result<LogFolder> open_log(Control& control, unsigned number, const Folder& folder);
Status tell_dropped(const tracewell_channel& channel, const Folder& folder, LogFolder& log);
/// Hooks in no ring: how many of them the log tells of, and that it does not of so many.
uint64_t told_without_ring(const tracewell_channel& channel, const Folder& folder);
Status tell_without_ring(const tracewell_channel& channel, const Folder& folder, uint64_t records);
/// `why` the log cannot be completed. What is in no ring is told in it, or else with that.
Error incomplete(Control& control, unsigned number, const Folder& folder, Error why);
/// Everything out of the rings, the clock measured over the whole session. `why`: it ends, where no
/// command ended it.
Status complete_log(Control& control, unsigned number, const Folder& folder, Rest rest,
                    std::string_view why = "");

}  // namespace tracewell::hooks
