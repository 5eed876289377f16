#include "base/leftovers.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <mutex>

namespace tracewell {
namespace {

constexpr size_t kFilesMax = 16;

struct Leftover {
  std::atomic<bool> used = false;
  std::array<char, PATH_MAX> path = {};
};
std::array<Leftover, kFilesMax> leftovers;
std::mutex mutex;  // of who changes them; a signal does not ask

void remove_and_end(int number) {
  for (Leftover& one : leftovers)
    if (one.used) ::unlink(one.path.data());
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void watch_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_and_end;
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace

void remember_leftover(const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  const std::lock_guard lock(mutex);
  for (Leftover& one : leftovers) {
    if (one.used) continue;
    std::memcpy(one.path.data(), path.c_str(), path.size() + 1);
    one.used = true;
    watch_signals();
    return;
  }
}

void forget_leftover(const std::string& path) {
  const std::lock_guard lock(mutex);
  for (Leftover& one : leftovers)
    if (one.used && path == one.path.data()) one.used = false;
}

}  // namespace tracewell
