// A library that is loaded in front of a server's own: once the file that STEPPED_CLOCK names is
// there, the wall clock is an hour behind, as if somebody had set it. Other clocks go on.
// build: -D_GNU_SOURCE -shared -fPIC
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kHour = 3600 };

int clock_gettime(clockid_t id, struct timespec *time) {
  const char *const file = getenv("STEPPED_CLOCK");
  const long status = syscall(SYS_clock_gettime, id, time);
  if (status == 0 && id == CLOCK_REALTIME && file && access(file, F_OK) == 0) time->tv_sec -= kHour;
  return (int)status;
}
