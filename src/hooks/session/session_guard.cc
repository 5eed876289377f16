#include "hooks/session/session_guard.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "hooks/session/detached.h"
#include "hooks/session/session.h"

namespace tracewell::hooks {

Result<SessionGuard> SessionGuard::start(Control& control, unsigned channel) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe");
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const uint32_t session = control.channel(channel).session;
  TW_RETURN_IF_ERROR(start_detached("tw-guard", [&] {
    writing.reset();
    char byte;
    ssize_t got;
    while ((got = ::read(reading.get(), &byte, 1)) < 0 && errno == EINTR) {
    }
    if (got == 0 && control.channel(channel).session == session)
      static_cast<void>(stop_session(control, channel));
    return 0;
  }));
  return SessionGuard(std::move(writing));
}

void SessionGuard::dismiss() {
  static_cast<void>(!::write(fd_.get(), "", 1));
  fd_.reset();
}

}  // namespace tracewell::hooks
