#include "base/process/urgency.h"

#include <cerrno>
#include <optional>

#include <sys/resource.h>
#include <unistd.h>

namespace tracewell {
namespace {

constexpr int kBefore = 10;  // so many steps before those of the same niceness
bool is_urgent = false, is_asked = false;
int urgents = 0;

/// The niceness of this program, by the first thread that asks. Nobody is urgent before.
std::optional<int> usual() {
  static const std::optional<int> value = []() -> std::optional<int> {
    errno = 0;
    const int nice = ::getpriority(PRIO_PROCESS, 0);
    return errno == 0 ? std::optional(nice) : std::nullopt;
  }();
  return value;
}

bool set(int more_than_usual) {
  return usual() && ::setpriority(PRIO_PROCESS, 0, *usual() + more_than_usual) == 0;
}

void settle_urgency() {
  const bool on = is_asked || urgents > 0;
  if (on != is_urgent && set(on ? -kBefore : 0)) is_urgent = on;
}

}  // namespace

void be_urgent(bool on) {
  is_asked = on;
  settle_urgency();
}

Urgent::Urgent() {
  ++urgents;
  settle_urgency();
}

Urgent::~Urgent() {
  --urgents;
  settle_urgency();
}

void restore_urgency() {
  if (is_urgent) (void)set(0);
}

}  // namespace tracewell
