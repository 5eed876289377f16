#include "base/urgency.h"

#include <cerrno>

#include <sys/resource.h>
#include <unistd.h>

namespace tracewell {
namespace {

constexpr int kBefore = 10;  // so many steps before those of the same niceness
bool is_urgent = false;
int usual = 0;

}  // namespace

void be_urgent(bool on) {
  if (on == is_urgent) return;
  errno = 0;
  if (on) usual = ::getpriority(PRIO_PROCESS, 0);
  if (errno != 0) return;
  if (::setpriority(PRIO_PROCESS, 0, on ? usual - kBefore : usual) == 0) is_urgent = on;
}

void restore_urgency() {
  if (is_urgent) (void)::setpriority(PRIO_PROCESS, 0, usual);
}

}  // namespace tracewell
