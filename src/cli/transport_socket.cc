#include "cli/transport_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace tracewell::cli {
namespace {

/// `words` are gdbserver's, which scripts look for.
Error cannot(std::string_view words, std::string_view where, int errno_value = errno) {
  return errno_error(errno_value, fmt::format("{}: Can't {}", where, words));
}
Error cannot_bind(std::string_view where, int errno_value = errno) {
  return cannot("bind address", where, errno_value);
}

/// Numeric host and port.
std::pair<std::string, std::string> name_of(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "0";
  (void)::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, port,
                      sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  return {host, port};
}

Result<UniqueFd> accept_on(int listener, sockaddr_storage& from, socklen_t& size) {
  size = sizeof from;
  UniqueFd fd(::accept4(listener, reinterpret_cast<sockaddr*>(&from), &size,
                        SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid()) return errno_error("accept");
  return fd;
}

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(UniqueFd fd) : fd_(std::move(fd)) {}
  std::string announcement() const override {
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    (void)::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&own), &size);
    return "Listening on port " + name_of(own, size).second;
  }
  int listen_fd() const override { return fd_.get(); }
  Result<Connection> accept() override {
    sockaddr_storage from{};
    socklen_t size = 0;
    TW_ASSIGN_OR_RETURN(UniqueFd fd, accept_on(fd_.get(), from, size));
    const int on = 1;
    (void)::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    const auto [host, port] = name_of(from, size);
    Connection connection;
    connection.input = std::move(fd);
    connection.peer = fmt::format("Remote debugging from host {}, port {}", host, port);
    return connection;
  }

 private:
  UniqueFd fd_;
};

class UnixTransport final : public Transport {
 public:
  UnixTransport(UniqueFd fd, std::string path, ino_t inode)
      : fd_(std::move(fd)), path_(std::move(path)), inode_(inode) {}
  ~UnixTransport() override {
    struct stat there;
    if (::lstat(path_.c_str(), &there) == 0 && there.st_ino == inode_) ::unlink(path_.c_str());
  }
  std::string announcement() const override { return "Listening on unix:" + path_; }
  int listen_fd() const override { return fd_.get(); }
  Result<Connection> accept() override {
    sockaddr_storage from{};
    socklen_t size = 0;
    TW_ASSIGN_OR_RETURN(UniqueFd fd, accept_on(fd_.get(), from, size));
    Connection connection;
    connection.input = std::move(fd);
    connection.peer = "Remote debugging using unix:" + path_;
    return connection;
  }

 private:
  UniqueFd fd_;
  std::string path_;
  ino_t inode_;
};

Result<UniqueFd> listen_on(const addrinfo& info, std::string_view where) {
  UniqueFd fd(::socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return errno_error("Can't open socket");
  const int on = 1;
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), info.ai_addr, info.ai_addrlen) != 0) return cannot_bind(where);
  if (::listen(fd.get(), 1) != 0) return cannot("listen on socket", where);
  return fd;
}

/// Does the socket still have an owner? Asked by a socket of another type, which is turned away
/// before the owner hears of it: a connection would be taken for a debugger.
bool has_owner(const sockaddr_un& address) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         errno != ECONNREFUSED;
}

}  // namespace

Result<std::unique_ptr<Transport>> open_tcp(const Comm& comm) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  // Without a name: loopback, because whoever may connect may do what the server's user may do.
  const std::string host = comm.host.empty() ? "127.0.0.1" : comm.host;
  const std::string where =
      host.find(':') == host.npos ? host + ":" + comm.port : "[" + host + "]:" + comm.port;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), comm.port.c_str(), &hints, &found);
  if (code != 0)
    return Error{Errc::Io,
                 fmt::format("{}: cannot resolve name: {}", comm.host, ::gai_strerror(code)),
                 {}};
  Result<UniqueFd> fd = Error{Errc::Io, comm.host + ": cannot resolve name: no address", {}};
  for (const int family : {AF_INET, AF_INET6})
    for (const addrinfo* info = found; info && !fd; info = info->ai_next)
      if (info->ai_family == family) fd = listen_on(*info, where);
  ::freeaddrinfo(found);
  if (!fd) return std::move(fd).error();
  return std::unique_ptr<Transport>(std::make_unique<TcpTransport>(*std::move(fd)));
}

Result<std::unique_ptr<Transport>> open_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{Errc::InvalidArgument, "the socket's path is too long: " + path, {}};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);

  struct stat there;
  if (::lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) return cannot_bind(path, EEXIST);
    if (has_owner(address)) return cannot_bind(path, EADDRINUSE);
    ::unlink(path.c_str());
  }
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return errno_error("Can't open socket");
  const mode_t before = ::umask(0177);
  const int bound = ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  const int bind_errno = errno;
  ::umask(before);
  if (bound != 0) return cannot_bind(path, bind_errno);
  if (::lstat(path.c_str(), &there) != 0) return errno_error(path);
  auto transport = std::make_unique<UnixTransport>(std::move(fd), path, there.st_ino);
  if (::listen(transport->listen_fd(), 1) != 0) return cannot("listen on socket", path);
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace tracewell::cli
