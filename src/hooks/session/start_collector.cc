#include "hooks/session/start_collector.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/file.h"
#include "hooks/session/detached.h"

namespace tracewell::hooks {

Status start_collector(Control& control, unsigned channel) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe");
  UniqueFd reading(ends[0]), writing(ends[1]);
  TW_RETURN_IF_ERROR(start_detached("tw-hooks", [&] {
    reading.reset();
    const Status status = run_collector(control, channel, [&] {
      static_cast<void>(!::write(writing.get(), "", 1));
      writing.reset();
    });
    return status.ok() ? 0 : 1;
  }));
  writing.reset();
  char byte;
  ssize_t got;
  while ((got = ::read(reading.get(), &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1) return {Errc::Io, "the collector of the trace could not start"};
  return {};
}

Status begin_trace(Control& control, const SessionOptions& session) {
  TW_RETURN_IF_ERROR(start_session(control, session));
  if (session.buffering != Buffering::Alternate) return {};
  Status status = start_collector(control, session.channel);
  if (!status.ok()) best_effort(stop_session(control, session.channel));
  return status;
}

}  // namespace tracewell::hooks
