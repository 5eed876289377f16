#include "server/connection/transport.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>

#include <fmt/format.h>

#include "base/named.h"
#include "base/open.h"
#include "server/connection/door.h"
#include "server/connection/listener.h"
#include "server/connection/peer.h"

namespace tracewell::server {
namespace {

Error bad_comm(std::string_view text) {
  return {Errc::InvalidArgument,
          fmt::format("'{}' is no place to listen: give HOST:PORT, [IPv6]:PORT, :PORT, unix:PATH, "
                      "a serial device, or -",
                      text),
          {}};
}

/// Without brackets it is plain as well: the last colon is the port's.
bool is_ipv6(std::string_view text) {
  in6_addr address;
  return ::inet_pton(AF_INET6, std::string(text.substr(0, text.find('%'))).c_str(), &address) == 1;
}

bool is_port(std::string_view text) {
  uint32_t port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port <= 65535;
}

/// Standard input and output, moved away so that nothing else reads or writes them: what the
/// program or a library prints goes to standard error.
class StdioTransport final : public Transport {
 public:
  std::string announcement() const override { return ""; }
  int listen_fd() const override { return -1; }
  Result<Connection> accept() override {
    Connection connection;
    connection.input = UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    connection.output = UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!connection.input.valid() || !connection.output.valid())
      return errno_error("standard input and output");
    TW_ASSIGN_OR_RETURN(const UniqueFd null, open_named("/dev/null"));
    ::dup2(null.get(), STDIN_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    connection.peer = "Remote debugging using stdio";
    return connection;
  }
};

class SerialTransport final : public Transport {
 public:
  SerialTransport(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  std::string announcement() const override { return ""; }
  int listen_fd() const override { return -1; }
  Result<Connection> accept() override {
    Connection connection;
    connection.input = std::move(fd_);
    connection.peer = "Remote debugging using " + path_;
    return connection;
  }

 private:
  UniqueFd fd_;
  std::string path_;
};

/// Eight bits, no echo, no translation, no flow control; the speed stays as it was set.
Result<std::unique_ptr<Transport>> open_serial(const std::string& path) {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, open_named_for(path, {.write = true, .wait = false}));
  struct termios settings;
  if (::tcgetattr(fd.get(), &settings) != 0) return errno_error(path + " is no serial device");
  ::cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cflag &= ~static_cast<tcflag_t>(CRTSCTS);
  if (::tcsetattr(fd.get(), TCSANOW, &settings) != 0) return errno_error("cannot set up " + path);
  return std::unique_ptr<Transport>(std::make_unique<SerialTransport>(std::move(fd), path));
}

}  // namespace

bool is_of_this_machine(const Comm& comm) {
  if (comm.kind != Comm::Kind::Tcp) return comm.kind != Comm::Kind::Serial;
  constexpr std::string_view kHosts[] = {"", "localhost", "127.0.0.1", "::1"};
  return std::ranges::find(kHosts, comm.host) != std::end(kHosts);
}

Result<Comm> parse_comm(std::string_view text) {
  Comm comm;
  if (text == "-" || text == "stdio") {
    comm.kind = Comm::Kind::Stdio;
    return comm;
  }
  if (text.starts_with("unix:")) {
    comm.kind = Comm::Kind::Unix;
    comm.path = text.substr(5);
    if (comm.path.empty()) return bad_comm(text);
    return comm;
  }
  if (text.starts_with('/')) {
    comm.kind = Comm::Kind::Serial;
    comm.path = text;
    return comm;
  }
  std::string_view rest = text;
  for (std::string_view family : {"tcp:", "tcp4:", "tcp6:"})
    if (rest.starts_with(family)) {
      rest.remove_prefix(family.size());
      break;
    }
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || !is_port(rest.substr(colon + 1))) return bad_comm(text);
  std::string_view host = rest.substr(0, colon);
  comm.port = rest.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos && !is_ipv6(host))
    return Error{Errc::InvalidArgument,
                 fmt::format("{}: cannot resolve name: a colon, and no IPv6 address", host),
                 {}};
  comm.host = host;
  return comm;
}

Result<std::unique_ptr<Transport>> Transport::open(const Comm& comm, DoorRules rules) {
  const bool socket = comm.kind == Comm::Kind::Tcp || comm.kind == Comm::Kind::Unix;
  if (!socket && rules.admission.widened())
    return Error{Errc::InvalidArgument, "--allow-users is for sockets only", {}};
  switch (comm.kind) {
    case Comm::Kind::Tcp: {
      TW_ASSIGN_OR_RETURN(auto listener, listen_tcp(comm));
      return Door::open(std::move(listener), std::move(rules));
    }
    case Comm::Kind::Unix: {
      TW_ASSIGN_OR_RETURN(auto listener, listen_unix(comm.path, rules.admission.widened()));
      return Door::open(std::move(listener), std::move(rules));
    }
    case Comm::Kind::Serial: return open_serial(comm.path);
    case Comm::Kind::Stdio: break;
  }
  return std::unique_ptr<Transport>(std::make_unique<StdioTransport>());
}

bool is_unheard(const Connection& connection, bool ended) {
  pollfd one{connection.write_fd(), 0, 0};
  if (::poll(&one, 1, 0) > 0 && (one.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return true;
  return ended && tcp_peer_is_gone(connection.write_fd());
}

// Standard output is not ours to make non-blocking: others may share it. A pipe that is ready takes
// PIPE_BUF bytes without blocking.
Result<size_t> send_some(int fd, std::string_view bytes) {
  const bool blocks = (::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
  size_t sent = 0;
  while (sent < bytes.size()) {
    pollfd one{fd, POLLOUT, 0};
    if (blocks && ::poll(&one, 1, 0) <= 0) break;
    const size_t left = bytes.size() - sent;
    const ssize_t size =
        ::write(fd, bytes.data() + sent, blocks ? std::min<size_t>(left, PIPE_BUF) : left);
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0 && errno != EINTR) return errno_error("the connection");
    if (size > 0) sent += static_cast<size_t>(size);
  }
  return sent;
}

Status send_all(const Connection& connection, std::string_view bytes, int quit_fd) {
  while (true) {
    TW_ASSIGN_OR_RETURN(const size_t sent, send_some(connection.write_fd(), bytes));
    bytes.remove_prefix(sent);
    if (bytes.empty()) return {};
    struct pollfd fds[] = {{connection.write_fd(), POLLOUT, 0}, {quit_fd, POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) return errno_error("the connection");
    if ((fds[1].revents & POLLIN) != 0) return Error{Errc::Io, "ending", {}};
  }
}

}  // namespace tracewell::server
