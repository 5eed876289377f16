#include "server/connection/peer.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::server {
namespace {

/// An address as the kernel's tables have it: IPv4 ones in IPv6 clothes too, as one form.
struct End {
  std::array<uint8_t, 16> address{};
  uint16_t port = 0;
  bool operator==(const End&) const = default;
};

constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

End end_of(const sockaddr_storage& from) {
  End out;
  if (from.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &from, sizeof in);
    std::memcpy(out.address.data(), kMapped.data(), kMapped.size());
    std::memcpy(out.address.data() + kMapped.size(), &in.sin_addr, 4);
    out.port = ntohs(in.sin_port);
  } else {
    sockaddr_in6 in;
    std::memcpy(&in, &from, sizeof in);
    std::memcpy(out.address.data(), &in.sin6_addr, 16);
    out.port = ntohs(in.sin6_port);
  }
  return out;
}

bool is_ipv4(const End& end) {
  return std::memcmp(end.address.data(), kMapped.data(), kMapped.size()) == 0;
}

Error nobody() {
  return {Errc::NotFound, "no process of this machine holds its other end", {}};
}

struct Request {
  nlmsghdr head{};
  inet_diag_req_v2 body{};
};

/// What the kernel says of one end of a connection.
struct Entry {
  uint8_t state = 0;
  uint32_t inode = 0, user = 0;
  bool is_held() const { return inode != 0; }  // by a process
};

/// nullopt: ask otherwise.
std::optional<Result<Entry>> answer_of(const std::vector<uint8_t>& reply, const End& from,
                                          const End& to) {
  nlmsghdr head;
  inet_diag_msg body;
  if (reply.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, reply.data(), sizeof head);
  // The system without this call, and a connection that is not there, are the same error.
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  if (reply.size() < NLMSG_HDRLEN + sizeof body) return std::nullopt;
  std::memcpy(&body, reply.data() + NLMSG_HDRLEN, sizeof body);
  // What is not there is answered with who listens.
  const size_t size = body.idiag_family == AF_INET ? 4 : 16;
  const auto end = [&](const void* address, uint16_t port) {
    End out;
    if (size == 4) std::memcpy(out.address.data(), kMapped.data(), kMapped.size());
    std::memcpy(out.address.data() + 16 - size, address, size);
    out.port = ntohs(port);
    return out;
  };
  const bool same = end(body.id.idiag_src, body.id.idiag_sport) == from &&
                    end(body.id.idiag_dst, body.id.idiag_dport) == to;
  if (!same) return Result<Entry>(nobody());
  return Result<Entry>(Entry{body.idiag_state, body.idiag_inode, body.idiag_uid});
}

std::optional<Result<Entry>> ask_kernel(const End& from, const End& to) {
  const UniqueFd fd(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!fd.valid()) return std::nullopt;
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const bool ipv4 = is_ipv4(from) && is_ipv4(to);
  const size_t size = ipv4 ? 4 : 16;
  Request request;
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = NLM_F_REQUEST;
  request.body.sdiag_family = ipv4 ? AF_INET : AF_INET6;
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0u;  // asked for one socket, the kernel does not look at it
  inet_diag_sockid& id = request.body.id;
  std::memcpy(id.idiag_src, from.address.data() + 16 - size, size);
  std::memcpy(id.idiag_dst, to.address.data() + 16 - size, size);
  id.idiag_sport = htons(from.port);
  id.idiag_dport = htons(to.port);
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(fd.get(), &request, sizeof request, 0, reinterpret_cast<sockaddr*>(&kernel),
               sizeof kernel) < 0)
    return std::nullopt;
  std::vector<uint8_t> reply(8192);
  ssize_t got = 0;
  do {
    socklen_t room = sizeof kernel;
    got = ::recvfrom(fd.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&kernel),
                     &room);
  } while ((got < 0 && errno == EINTR) || (got >= 0 && kernel.nl_pid != 0));
  if (got < 0) return std::nullopt;
  reply.resize(static_cast<size_t>(got));
  return answer_of(reply, from, to);
}

/// `0100007F:0929`: words of four bytes, each as a number of this machine.
std::optional<End> read_end(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon != 8 && colon != 32) return std::nullopt;
  const auto port = parse_hex(text.substr(colon + 1));
  if (!port || *port > UINT16_MAX) return std::nullopt;
  End out;
  out.port = static_cast<uint16_t>(*port);
  if (colon == 8) std::memcpy(out.address.data(), kMapped.data(), kMapped.size());
  uint8_t* to = out.address.data() + (colon == 8 ? 12 : 0);
  for (size_t at = 0; at < colon; at += 8, to += 4) {
    const auto word = parse_hex(text.substr(at, 8));
    if (!word) return std::nullopt;
    const auto number = static_cast<uint32_t>(*word);
    std::memcpy(to, &number, sizeof number);
  }
  return out;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) out.push_back(word);
  return out;
}

/// Ours. Who has ended its side may still listen, and its address be nobody else's.
bool is_open(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         (info.tcpi_state == TCP_ESTABLISHED || info.tcpi_state == TCP_CLOSE_WAIT);
}

/// The other one, which has been connected with ours.
bool is_other_open(uint8_t state) {
  return state == TCP_ESTABLISHED || state == TCP_FIN_WAIT1 || state == TCP_FIN_WAIT2;
}

struct Row {
  End local, remote;
  uint32_t user = 0;
};

/// Of a connection that is open, and that a process holds.
std::optional<Row> read_row(std::string_view line) {
  constexpr size_t kLocal = 1, kRemote = 2, kState = 3, kUser = 7, kInode = 9;
  const auto words = fields_of(line);
  if (words.size() <= kInode || words[kInode] == "0") return std::nullopt;
  const auto state = parse_hex(words[kState]);
  if (!state || *state > UINT8_MAX || !is_other_open(static_cast<uint8_t>(*state)))
    return std::nullopt;
  const auto local = read_end(words[kLocal]), remote = read_end(words[kRemote]);
  const auto user = parse_number(words[kUser]);
  if (!local || !remote || !user || *user > UINT32_MAX) return std::nullopt;
  return Row{*local, *remote, static_cast<uint32_t>(*user)};
}

/// A connection whose other end's user is asked for.
struct Asked {
  int fd = -1;
  End from, to;  // the other end, and ours
  bool in_tables = false;  // nobody else answers
  Result<uint32_t> user = nobody();
};

Asked ask_about(int fd) {
  Asked out;
  out.fd = fd;
  // A cheap answer first: what was closed already is nobody's.
  if (!is_open(fd)) return out;
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    out.user = errno_error("whose connection it is cannot be told");
    return out;
  }
  out.from = end_of(peer);
  out.to = end_of(own);
  const auto told = ask_kernel(out.from, out.to);
  // That it is not there and that nobody answers such questions is one error. Our own end is there.
  out.in_tables = !told && !ask_kernel(out.to, out.from);
  if (told && *told && is_other_open((*told)->state) && (*told)->is_held())
    out.user = (*told)->user;
  return out;
}

/// All of them were accepted before the tables are read: what these say of an address is of that
/// connection, or of a later one.
void look_into_tables(std::vector<Asked>& all) {
  std::vector<Asked*> open;
  for (Asked& one : all)
    if (one.in_tables) open.push_back(&one);
  for (const char* name : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    if (open.empty()) return;
    const auto table = InputFile::open(name);
    if (!table) continue;
    for (std::string_view text = as_text((*table)->bytes()); !text.empty() && !open.empty();) {
      const auto row = read_row(take_until(text, '\n'));
      if (!row) continue;
      std::erase_if(open, [&](Asked* one) {
        if (one->from != row->local || one->to != row->remote) return false;
        one->user = row->user;
        return true;
      });
    }
  }
}

}  // namespace

Result<uint32_t> user_in_table(std::string_view text, const sockaddr_storage& from,
                               const sockaddr_storage& to) {
  const End source = end_of(from), target = end_of(to);
  while (!text.empty()) {
    const auto row = read_row(take_until(text, '\n'));
    if (row && row->local == source && row->remote == target) return row->user;
  }
  return nobody();
}

std::vector<Result<uint32_t>> tcp_peer_users(const std::vector<int>& fds) {
  std::vector<Asked> all;
  for (const int fd : fds) all.push_back(ask_about(fd));
  look_into_tables(all);
  std::vector<Result<uint32_t>> out;
  // The other end may be gone by now, and its address be somebody else's. Then ours is gone, too,
  // or still waits (CLOSE_WAIT): nobody else can be connected with it, and what is left of the
  // other end has no process that holds it.
  for (Asked& one : all)
    out.push_back(one.user && !is_open(one.fd) ? Result<uint32_t>(nobody())
                                                      : std::move(one.user));
  return out;
}

Result<uint32_t> tcp_peer_user(int fd) { return std::move(tcp_peer_users({fd}).front()); }

bool tcp_peer_is_gone(int fd) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0)
    return errno == ENOTCONN;
  if (own.ss_family != AF_INET && own.ss_family != AF_INET6) return false;
  const auto told = ask_kernel(end_of(peer), end_of(own));
  return told && *told && !(*told)->is_held();
}

Result<uint32_t> unix_peer_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return errno_error("whose connection it is cannot be told");
  return peer.uid;
}

}  // namespace tracewell::server
