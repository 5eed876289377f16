#include "base/files/leftovers.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <mutex>

namespace tracewell {
namespace {

struct Leftover {
  std::atomic<bool> used = false;
  int folder = -1;
  std::array<char, PATH_MAX> path = {};
  Leftover* next = nullptr;
};
// Used ones and free ones. A signal may come at any moment, so none is ever taken out.
std::atomic<Leftover*> first = nullptr;
std::mutex mutex;  // of who changes them; a signal does not ask

void remove_and_end(int number) {
  for (Leftover* one = first; one != nullptr; one = one->next)
    if (one->used) ::unlinkat(one->folder, one->path.data(), 0);
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

void remember_leftover(int folder, const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  const std::lock_guard lock(mutex);
  Leftover* place = first;
  while (place != nullptr && place->used) place = place->next;
  const bool is_new = place == nullptr;
  if (is_new) {
    place = new Leftover;
    place->next = first;
  }
  place->folder = folder;
  std::memcpy(place->path.data(), path.c_str(), path.size() + 1);
  place->used = true;
  if (is_new) first = place;
  watch_signals();
}

void forget_leftover(int folder, const std::string& path) {
  const std::lock_guard lock(mutex);
  for (Leftover* one = first; one != nullptr; one = one->next)
    if (one->used && folder == one->folder && path == one->path.data()) one->used = false;
}

}  // namespace tracewell
