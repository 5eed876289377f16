#include "server/connection/listener.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "server/connection/peer.h"

namespace tracewell::server {
namespace {

/// While a debugger is served others wait here; room for those who must not be there, too.
constexpr int kBacklog = 128;
/// A free port is one that is free at each address; somebody may hold some of them at one.
constexpr int kPortTries = 64;

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

struct Address {
  sockaddr_storage at{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&at); }
  bool operator==(const Address& other) const {
    return size == other.size && std::memcmp(&at, &other.at, size) == 0;
  }
};

constexpr size_t kPortAt = offsetof(sockaddr_in, sin_port);
static_assert(kPortAt == offsetof(sockaddr_in6, sin6_port));

in_port_t port_of(const Address& address) {
  in_port_t port;
  std::memcpy(&port, reinterpret_cast<const char*>(&address.at) + kPortAt, sizeof port);
  return port;
}
void set_port(Address& address, in_port_t port) {
  std::memcpy(reinterpret_cast<char*>(&address.at) + kPortAt, &port, sizeof port);
}

Address address_of(int fd) {
  Address out;
  out.size = sizeof out.at;
  (void)::getsockname(fd, reinterpret_cast<sockaddr*>(&out.at), &out.size);
  return out;
}

std::string host_and_port(const std::string& host, const std::string& port) {
  return host.find(':') == host.npos ? host + ":" + port : "[" + host + "]:" + port;
}

/// Adds the addresses that are not in `out` yet: a file of hosts may say the same twice.
int look_up(const std::string& host, const std::string& port, int flags,
            std::vector<Address>& out) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) return code;
  for (const addrinfo* info = found; info; info = info->ai_next) {
    if (info->ai_family != AF_INET && info->ai_family != AF_INET6) continue;
    Address one;
    std::memcpy(&one.at, info->ai_addr, one.size = info->ai_addrlen);
    if (std::ranges::find(out, one) == out.end()) out.push_back(one);
  }
  ::freeaddrinfo(found);
  return 0;
}

/// All that a debugger may try that is told the same. It takes the addresses of a name in turn, and
/// most often ::1 comes before 127.0.0.1: for a name that means loopback, and without one, both are
/// among them, whatever this machine's file of hosts says. An address stands for itself.
Result<std::vector<Address>> addresses_of(const Comm& comm) {
  std::vector<Address> named, out;
  if (!comm.host.empty()) {
    if (look_up(comm.host, comm.port, AI_NUMERICHOST, out) == 0 && !out.empty()) return out;
    const int code = look_up(comm.host, comm.port, 0, named);
    if (code != 0 || named.empty())
      return Error{Errc::Io,
                   fmt::format("{}: cannot resolve name: {}", comm.host,
                               code != 0 ? ::gai_strerror(code) : "no address"),
                   {}};
    std::ranges::stable_partition(
        named, [](const Address& one) { return one.at.ss_family == AF_INET; });
  }
  if (named.empty() || is_loopback(named.front().at))
    for (const char* own : {"127.0.0.1", "::1"})
      (void)look_up(own, comm.port, AI_NUMERICHOST, out);
  for (const Address& one : named)
    if (std::ranges::find(out, one) == out.end()) out.push_back(one);
  return out;
}

/// What listens, and what only keeps others from it.
struct Sockets {
  std::vector<UniqueFd> open, kept;
};
struct Failure {
  int code = 0;  // errno's; 0 = none
  std::string_view words;
  Address at;
};

/// One that only keeps an address shares it with nobody (no SO_REUSEADDR).
Failure take_one(const Address& address, bool listens, bool alone, UniqueFd& fd) {
  fd = UniqueFd(::socket(address.at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return {errno, "open socket", address};
  const int on = 1;
  if (listens) (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!alone && address.at.ss_family == AF_INET6)
    (void)::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd.get(), address.get(), address.size) != 0) return {errno, "bind address", address};
  if (listens && ::listen(fd.get(), kBacklog) != 0) return {errno, "listen on socket", address};
  return {};
}

/// The machine has no such address, and so nobody else of it can listen there.
bool is_absent(int code) {
  return code == EADDRNOTAVAIL || code == EAFNOSUPPORT || code == EINVAL;
}

/// The first address that is there is listened at, and if it is loopback, each one that is. Others
/// are wider than who is admitted; a debugger that tries them is to meet nobody. All get one port.
Failure take_all(std::vector<Address> addresses, Sockets& out) {
  Failure absent;
  bool local = false;
  in_port_t port = 0;
  for (Address& one : addresses) {
    if (port != 0) set_port(one, port);
    const bool first = out.open.empty();
    const bool listens = first || (local && is_loopback(one.at));
    UniqueFd fd;
    Failure failure = take_one(one, listens, addresses.size() == 1, fd);
    if (failure.code != 0 && !is_absent(failure.code)) return failure;
    if (failure.code != 0) {
      if (absent.code == 0) absent = failure;
      continue;
    }
    if (first) local = is_loopback(one.at);
    if (first) port = port_of(address_of(fd.get()));
    (listens ? out.open : out.kept).push_back(std::move(fd));
  }
  return out.open.empty() ? absent : Failure{};
}

class TcpListener final : public Listener {
 public:
  explicit TcpListener(Sockets sockets)
      : sockets_(std::move(sockets)), own_(address_of(sockets_.open.front().get())) {}
  /// One descriptor to wait at, for however many sockets.
  Status gather() {
    events_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
    if (!events_.valid()) return errno_error("cannot wait for connections");
    for (const UniqueFd& one : sockets_.open) {
      struct epoll_event event {};
      event.events = EPOLLIN;
      if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, one.get(), &event) != 0)
        return errno_error("cannot wait for connections");
    }
    return {};
  }
  std::string announcement() const override {
    return "Listening on port " + name_of(own_.at, own_.size).second;
  }
  int fd() const override { return events_.get(); }
  bool is_local() const override { return is_loopback(own_.at); }
  Result<Caller> accept() override {
    sockaddr_storage from{};
    socklen_t size = 0;
    Result<UniqueFd> fd = Error{};
    // In turn: a crowd at one of them keeps nobody from another.
    for (size_t i = 0; i < sockets_.open.size() && !fd; ++i) {
      turn_ = (turn_ + 1) % sockets_.open.size();
      fd = accept_on(sockets_.open[turn_].get(), from, size);
      if (!fd && errno != EAGAIN && errno != EWOULDBLOCK) break;
    }
    if (!fd) return std::move(fd).error();
    const int on = 1;
    (void)::setsockopt(fd->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    keep_looking(fd->get());
    const auto [host, port] = name_of(from, size);
    Caller caller;
    caller.fd = *std::move(fd);
    caller.name = fmt::format("Remote debugging from host {}, port {}", host, port);
    return caller;
  }
  void identify(std::vector<Caller>& callers) const override {
    if (!is_local()) return;
    std::vector<int> fds;
    for (const Caller& one : callers) fds.push_back(one.fd.get());
    auto users = tcp_peer_users(fds);
    for (size_t i = 0; i < callers.size(); ++i) callers[i].user = std::move(users[i]);
  }

 private:
  Sockets sockets_;
  Address own_;
  UniqueFd events_;  // an epoll of the sockets
  size_t turn_ = 0;
};

class UnixListener final : public Listener {
 public:
  UnixListener(UniqueFd fd, Folder folder, const std::string& name, std::string path)
      : fd_(std::move(fd)), folder_(std::move(folder)), name_(name), path_(std::move(path)) {}
  ~UnixListener() override {
    const auto there = folder_.facts_of_name(name_);
    if (made_ && there && there->is_same(*made_)) best_effort(folder_.remove(name_));
  }
  /// False: what has the name is not what was bound to it.
  bool is_there() {
    made_ = folder_.facts_of_name(name_);
    if (!made_ || made_->kind != FileFacts::Kind::Other || made_->owner != ::geteuid())
      made_.reset();
    return made_.has_value();
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

/// The kernel takes a path to a socket, and follows links in it, whoever may have put them there
/// since it was looked at. A link of /proc is the open file or folder itself, and leads nowhere
/// else. Where there is no /proc, `path` has to do. nullopt: it is too long.
std::optional<sockaddr_un> address_behind(int fd, const std::string& rest,
                                          const std::string& path) {
  const std::string held = fmt::format("/proc/self/fd/{}", fd);
  const auto meant = facts_of(fd, path);
  const auto led_to = facts_at(held);
  const bool leads_there = meant.ok() && led_to && led_to->is_same(*meant);
  const std::string name = leads_there ? held + rest : path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  return address;
}

/// Does the socket still have an owner? Asked by a socket of another type, which is turned away
/// before the owner hears of it: a connection would be taken for a debugger.
bool has_owner(const Place& place, const std::string& path) {
  const auto address = address_behind(place.at.get(), "", path);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return !address ||
         ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0 ||
         errno != ECONNREFUSED;
}

bool is_socket(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace

Result<std::unique_ptr<Listener>> listen_tcp(const Comm& comm) {
  // Without a name: loopback, because whoever may connect may do what the server's user may do.
  const std::string host = comm.host.empty() ? "127.0.0.1" : comm.host;
  const std::string where = host_and_port(host, comm.port);
  TW_ASSIGN_OR_RETURN(const std::vector<Address> addresses, addresses_of(comm));
  const bool any_port = port_of(addresses.front()) == 0;
  Sockets sockets;
  Failure failure;
  std::vector<Sockets> held;  // so that the system does not give the same port again
  for (int tries = 0; tries < kPortTries; ++tries) {
    if (tries != 0) held.push_back(std::exchange(sockets, {}));
    failure = take_all(addresses, sockets);
    if (!any_port || failure.code != EADDRINUSE) break;
  }
  if (failure.code != 0) {
    Error error = cannot(failure.words, where, failure.code);
    const auto [at, port] = name_of(failure.at.at, failure.at.size);
    if (!sockets.open.empty())
      error.message += fmt::format("; it is so at {}, where a debugger that is told this name may "
                                   "connect first: take another port, or an address for a name",
                                   host_and_port(at, port));
    return error;
  }
  auto listener = std::make_unique<TcpListener>(std::move(sockets));
  TW_RETURN_IF_ERROR(listener->gather());
  return std::unique_ptr<Listener>(std::move(listener));
}

Result<std::unique_ptr<Listener>> listen_unix(const std::string& path, bool for_others) {
  // No link of somebody else's leads to it, and what has its name is known by the folder.
  TW_ASSIGN_OR_RETURN(const Place place, place_beside(path));
  TW_ASSIGN_OR_RETURN(Folder folder, Folder::named(parent_of(path)));
  TW_ASSIGN_OR_RETURN(const FileFacts opened, folder.facts());
  TW_ASSIGN_OR_RETURN(const FileFacts placed, facts_of(place.folder.get(), path));
  if (!opened.is_same(placed)) return cannot_bind(path, EAGAIN);
  const auto address = address_behind(folder.fd(), "/" + place.name, path);
  if (!address)
    return Error{Errc::InvalidArgument, "the socket's path is too long: " + path, {}};
  if (place.at.valid()) {
    if (!is_socket(place.at.get())) return cannot_bind(path, EEXIST);
    if (has_owner(place, path)) return cannot_bind(path, EADDRINUSE);
    if (!is_own_user(place.facts.owner))
      return Error{Errc::InvalidArgument,
                   fmt::format("{}: Can't bind address: {} left a socket there; remove it, or take "
                               "another name",
                               path, user_name(place.facts.owner)),
                   {}};
    best_effort(folder.remove(place.name));
  }
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return errno_error("Can't open socket");
  // bind(2) gives the name the socket's own mode: at no time can others use it.
  const mode_t mode = for_others ? 0666 : 0600, before = ::umask(0777 & ~mode);
  const auto* const name = reinterpret_cast<const sockaddr*>(&*address);
  const int bound =
      ::fchmod(fd.get(), mode) != 0 ? -1 : ::bind(fd.get(), name, sizeof *address);
  const int bind_errno = errno;
  ::umask(before);
  if (bound != 0) return cannot_bind(path, bind_errno);
  auto listener =
      std::make_unique<UnixListener>(std::move(fd), std::move(folder), place.name, path);
  if (!listener->is_there()) return cannot_bind(path, EAGAIN);
  if (::listen(listener->fd(), kBacklog) != 0) return cannot("listen on socket", path);
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace tracewell::server
