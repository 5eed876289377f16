// Threads that others wait for, and that get a processor before them where they may.
#pragma once

namespace tracewell {

/// This thread goes before others of the machine (setpriority(2)), or no more. Does nothing where
/// that is not allowed (CAP_SYS_NICE, RLIMIT_NICE). One thread of a process.
void be_urgent(bool on);

/// The same thread goes before others for as long as one of these lives, too: such as while a
/// program stands still for it.
class Urgent {
 public:
  Urgent();
  ~Urgent();
  Urgent(const Urgent&) = delete;
  Urgent& operator=(const Urgent&) = delete;
};

/// In a child, before it becomes another program: it is no more urgent than this program was at
/// first. Allocates nothing.
void restore_urgency();

}  // namespace tracewell
