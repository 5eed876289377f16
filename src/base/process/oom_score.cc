#include "base/process/oom_score.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace tracewell {
namespace {

constexpr char kPath[] = "/proc/self/oom_score_adj";
// Not the least: a group whose processes are all exempt would be stuck.
constexpr char kAmongTheLast[] = "-900";
char before[16];  // "" = it was not changed

bool write_score(const char* text) {
  const int fd = ::open(kPath, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const size_t size = std::strlen(text);
  const bool done = ::write(fd, text, size) == static_cast<ssize_t>(size);
  ::close(fd);
  return done;
}

}  // namespace

void shun_oom_killer() {
  const int fd = ::open(kPath, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char now[sizeof before] = {};
  const ssize_t got = ::read(fd, now, sizeof now - 1);
  ::close(fd);
  if (got <= 0) return;
  // Without the right to lower it, what was raised can be lowered again.
  const bool done = write_score(kAmongTheLast) || (std::atoi(now) > 0 && write_score("0"));
  if (done) std::memcpy(before, now, sizeof before);
}

void restore_oom_score() {
  if (before[0] != 0) (void)write_score(before);
}

}  // namespace tracewell
