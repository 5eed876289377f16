#include "cli/replay_loop.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace tracewell::cli {
namespace {

enum class Ready : uint8_t { Input, Nothing, Quit };

/// Blocks, if told to, until `fd` or `quit_fd` is readable.
Result<Ready> readable(int fd, int quit_fd, bool block = true) {
  struct pollfd fds[] = {{fd, POLLIN, 0}, {quit_fd, POLLIN, 0}};
  while (::poll(fds, 2, block ? -1 : 0) < 0)
    if (errno != EINTR) return errno_error("poll");
  if (fds[1].revents != 0) return Ready::Quit;
  return fds[0].revents != 0 ? Ready::Input : Ready::Nothing;
}

/// A while of what was resumed.
void run(target::Target& target, agent::Session& session) {
  auto event = target.wait();
  if (!event) session.on_target_error(event.error());
  else if (*event) session.on_event(**event);
}

/// True when the next debugger may come.
Result<bool> converse(const Connection& connection, target::Target& target,
                      agent::Session& session, int quit_fd) {
  uint8_t buffer[1 << 16];
  while (!session.finished()) {
    TW_ASSIGN_OR_RETURN(const Ready ready,
                        readable(connection.input.get(), quit_fd, !session.running()));
    if (ready == Ready::Quit) return false;
    if (ready == Ready::Input) {
      const ssize_t size = ::read(connection.input.get(), buffer, sizeof buffer);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (size <= 0) break;
      session.feed({buffer, static_cast<size_t>(size)});
    } else {
      run(target, session);
    }
    do {
      if (!send_all(connection, session.take_output(), quit_fd)) return !session.server_exit();
    } while (session.proceed());
  }
  return !session.server_exit();
}

}  // namespace

Status serve_recorded(Transport& transport, target::Target& target, agent::Trace* trace,
                      const agent::SessionOptions& options, bool once, int quit_fd) {
  while (true) {
    if (transport.listen_fd() >= 0) {
      TW_ASSIGN_OR_RETURN(const Ready ready, readable(transport.listen_fd(), quit_fd));
      if (ready == Ready::Quit) return {};
    }
    auto connection = transport.accept();
    if (!connection) {
      if (transport.listen_fd() < 0) return std::move(connection).error();
      continue;  // a caller that hung up before we answered
    }
    if (options.notice) options.notice(connection->peer);
    agent::Session session(target, trace, options);
    TW_ASSIGN_OR_RETURN(const bool next, converse(*connection, target, session, quit_fd));
    session.on_disconnect(false);
    if (!next || once || transport.listen_fd() < 0) return {};
  }
}

}  // namespace tracewell::cli
