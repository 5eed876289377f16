// Ctrl-C, for commands that print: they end between two batches, so that no line is cut.
#pragma once

#include <csignal>

namespace tracewell {

/// Whoever starts us may have signals blocked, as a thread does that takes them by signalfd(2), and
/// nobody could end us, or what we leave behind, but by SIGKILL: from now on none is. Once, first.
void let_signals_come();
/// What was blocked before that: programs that we start for the user are to have it.
const sigset_t& blocked_before();

/// While one is there, the first SIGINT or SIGTERM is only remembered; the next one ends us.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_[2];
};

/// The signal that came; 0 = none.
int interrupted();
/// Has a signal come that asks us to end, and that is remembered, or waits to be taken?
bool asked_to_end();
/// Ends the program by the signal that came, as whoever started it expects to see; if one came.
void end_if_interrupted();

}  // namespace tracewell
