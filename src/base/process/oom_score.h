// Whom the kernel kills first when memory is short: /proc/PID/oom_score_adj (proc(5)).
#pragma once

namespace tracewell {

/// This process, and what it forks, is among the last that are killed from now on, where it may be
/// (CAP_SYS_RESOURCE). What it was before is kept for restore_oom_score().
void shun_oom_killer();

/// In a child, before it becomes another program: as it was when this program began. Allocates
/// nothing.
void restore_oom_score();

}  // namespace tracewell
