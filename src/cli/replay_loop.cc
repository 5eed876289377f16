#include "cli/replay_loop.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace tracewell::cli {
namespace {

/// Blocks until `fd` is readable; false when `quit_fd` is.
Result<bool> readable(int fd, int quit_fd) {
  struct pollfd fds[] = {{fd, POLLIN, 0}, {quit_fd, POLLIN, 0}};
  while (::poll(fds, 2, -1) < 0)
    if (errno != EINTR) return errno_error("poll");
  return fds[1].revents == 0;
}

/// True when the next debugger may come.
Result<bool> converse(const Connection& connection, agent::Session& session, int quit_fd) {
  uint8_t buffer[1 << 16];
  while (!session.finished()) {
    TW_ASSIGN_OR_RETURN(const bool go_on, readable(connection.input.get(), quit_fd));
    if (!go_on) return false;
    const ssize_t size = ::read(connection.input.get(), buffer, sizeof buffer);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size <= 0) break;
    session.feed({buffer, static_cast<size_t>(size)});
    do {
      if (!send_all(connection, session.take_output(), quit_fd)) return !session.server_exit();
    } while (session.proceed());
  }
  return !session.server_exit();
}

}  // namespace

Status serve_recorded(Transport& transport, target::Target& target, agent::Trace& trace,
                      const agent::SessionOptions& options, bool once, int quit_fd) {
  while (true) {
    if (transport.listen_fd() >= 0) {
      TW_ASSIGN_OR_RETURN(const bool go_on, readable(transport.listen_fd(), quit_fd));
      if (!go_on) return {};
    }
    auto connection = transport.accept();
    if (!connection) {
      if (transport.listen_fd() < 0) return std::move(connection).error();
      continue;  // a caller that hung up before we answered
    }
    if (options.notice) options.notice(connection->peer);
    agent::Session session(target, &trace, options);
    TW_ASSIGN_OR_RETURN(const bool next, converse(*connection, session, quit_fd));
    if (!next || once || transport.listen_fd() < 0) return {};
  }
}

}  // namespace tracewell::cli
