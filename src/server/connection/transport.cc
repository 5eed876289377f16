#include "server/connection/transport.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>

#include <fmt/format.h>

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
