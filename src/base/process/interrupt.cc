#include "base/process/interrupt.h"

#include <csignal>
#include <cstddef>
#include <iterator>

namespace tracewell {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};
volatile std::sig_atomic_t came = 0;

sigset_t g_blocked_before;

void remember(int signal) { came = signal; }

}  // namespace

void let_signals_come() {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, &g_blocked_before);
}

const sigset_t& blocked_before() { return g_blocked_before; }

InterruptGuard::InterruptGuard() {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    // Whoever starts us in the background may have it ignored.
    if (before_[i].sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = remember;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

int interrupted() { return came; }

bool asked_to_end() {
  if (came != 0) return true;
  sigset_t waiting;
  if (::sigpending(&waiting) != 0) return false;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    if (::sigismember(&waiting, signal) == 1) return true;
  return false;
}

void end_if_interrupted() {
  if (came == 0) return;
  std::signal(came, SIG_DFL);
  std::raise(came);
}

}  // namespace tracewell
