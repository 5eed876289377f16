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

#include "base/folder.h"
#include "base/open.h"
#include "base/paths.h"
#include "cli/peer.h"

namespace tracewell::cli {
namespace {

/// While a debugger is served others wait here; room for those who must not be there, too.
constexpr int kBacklog = 128;

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
  if (fd.valid()) return fd;
  const int why = errno;
  Error error = errno_error(why, "accept");
  errno = why;
  return error;
}

/// A debugger whose machine is gone without a word is noticed within minutes, rather than hours.
void keep_looking(int fd) {
  const int on = 1, idle_s = 300, again_s = 30, times = 4;
  (void)::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &again_s, sizeof again_s);
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &address, sizeof in);
    return ntohl(in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  sockaddr_in6 in;
  std::memcpy(&in, &address, sizeof in);
  return IN6_IS_ADDR_LOOPBACK(&in.sin6_addr) ||
         (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr) && in.sin6_addr.s6_addr[12] == IN_LOOPBACKNET);
}

class TcpListener final : public Listener {
 public:
  explicit TcpListener(UniqueFd fd) : fd_(std::move(fd)) {
    socklen_t size = sizeof own_;
    (void)::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&own_), &size);
    port_ = name_of(own_, size).second;
  }
  std::string announcement() const override { return "Listening on port " + port_; }
  int fd() const override { return fd_.get(); }
  bool is_local() const override { return is_loopback(own_); }
  Result<Caller> accept() override {
    sockaddr_storage from{};
    socklen_t size = 0;
    TW_ASSIGN_OR_RETURN(UniqueFd fd, accept_on(fd_.get(), from, size));
    const int on = 1;
    (void)::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    keep_looking(fd.get());
    const auto [host, port] = name_of(from, size);
    Caller caller;
    if (is_local()) caller.user = tcp_peer_user(fd.get());
    caller.fd = std::move(fd);
    caller.name = fmt::format("Remote debugging from host {}, port {}", host, port);
    return caller;
  }

 private:
  UniqueFd fd_;
  sockaddr_storage own_{};
  std::string port_;
};

class UnixListener final : public Listener {
 public:
  UnixListener(UniqueFd fd, Folder folder, const std::string& name, std::string path)
      : fd_(std::move(fd)), folder_(std::move(folder)), name_(name), path_(std::move(path)) {}
  ~UnixListener() override {
    const auto there = folder_.facts_of_name(name_);
    if (made_ && there && there->is_same(*made_)) (void)folder_.remove(name_);
  }
  /// False: what has the name is not what was bound to it.
  bool is_there() {
    made_ = folder_.facts_of_name(name_);
    return made_ && made_->kind == FileFacts::Kind::Other && made_->owner == ::geteuid();
  }
  std::string announcement() const override { return "Listening on unix:" + path_; }
  int fd() const override { return fd_.get(); }
  bool is_local() const override { return true; }
  Result<Caller> accept() override {
    sockaddr_storage from{};
    socklen_t size = 0;
    Caller caller;
    TW_ASSIGN_OR_RETURN(caller.fd, accept_on(fd_.get(), from, size));
    caller.user = unix_peer_user(caller.fd.get());
    caller.name = "Remote debugging using unix:" + path_;
    return caller;
  }

 private:
  UniqueFd fd_;
  Folder folder_;
  std::string name_, path_;
  std::optional<FileFacts> made_;
};

Result<UniqueFd> listen_on(const addrinfo& info, std::string_view where) {
  UniqueFd fd(::socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return errno_error("Can't open socket");
  const int on = 1;
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), info.ai_addr, info.ai_addrlen) != 0) return cannot_bind(where);
  if (::listen(fd.get(), kBacklog) != 0) return cannot("listen on socket", where);
  return fd;
}

/// Does the socket still have an owner? Asked by a socket of another type, which is turned away
/// before the owner hears of it: a connection would be taken for a debugger.
bool has_owner(const sockaddr_un& address) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         errno != ECONNREFUSED;
}

bool is_socket(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace

Result<std::unique_ptr<Listener>> listen_tcp(const Comm& comm) {
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
  return std::unique_ptr<Listener>(std::make_unique<TcpListener>(*std::move(fd)));
}

Result<std::unique_ptr<Listener>> listen_unix(const std::string& path, bool for_others) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{Errc::InvalidArgument, "the socket's path is too long: " + path, {}};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);

  // No link of somebody else's leads to it, and what has its name is known by the folder.
  TW_ASSIGN_OR_RETURN(const Place place, place_beside(path));
  TW_ASSIGN_OR_RETURN(Folder folder, Folder::named(parent_of(path)));
  TW_ASSIGN_OR_RETURN(const FileFacts opened, folder.facts());
  TW_ASSIGN_OR_RETURN(const FileFacts placed, facts_of(place.folder.get(), path));
  if (!opened.is_same(placed)) return cannot_bind(path, EAGAIN);
  if (place.at.valid()) {
    if (!is_socket(place.at.get())) return cannot_bind(path, EEXIST);
    if (has_owner(address)) return cannot_bind(path, EADDRINUSE);
    if (place.facts.owner != ::geteuid())
      return Error{Errc::InvalidArgument,
                   fmt::format("{}: Can't bind address: {} left a socket there; remove it, or take "
                               "another name",
                               path, user_name(place.facts.owner)),
                   {}};
    (void)folder.remove(place.name);
  }
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return errno_error("Can't open socket");
  // bind(2) gives the name the socket's own mode: at no time can others use it.
  const mode_t mode = for_others ? 0666 : 0600, before = ::umask(0777 & ~mode);
  const int bound = ::fchmod(fd.get(), mode) != 0
                        ? -1
                        : ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  const int bind_errno = errno;
  ::umask(before);
  if (bound != 0) return cannot_bind(path, bind_errno);
  auto listener =
      std::make_unique<UnixListener>(std::move(fd), std::move(folder), place.name, path);
  if (!listener->is_there()) return cannot_bind(path, EAGAIN);
  if (::listen(listener->fd(), kBacklog) != 0) return cannot("listen on socket", path);
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace tracewell::cli
