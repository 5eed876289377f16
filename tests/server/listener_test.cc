// Where a server listens: a debugger that is told the same name must never reach somebody else.
#include "server/connection/listener.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace tracewell::server {
namespace {

struct Spot {
  sockaddr_storage at{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&at); }
};

Spot spot(int family, uint16_t port) {
  Spot out;
  if (family == AF_INET) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::memcpy(&out.at, &in, out.size = sizeof in);
  } else {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    in.sin6_addr = in6addr_loopback;
    std::memcpy(&out.at, &in, out.size = sizeof in);
  }
  return out;
}

/// As somebody does it who wants the port at any price.
int bound(const UniqueFd& fd, int family, uint16_t port) {
  const int on = 1;
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const Spot at = spot(family, port);
  return ::bind(fd.get(), at.get(), at.size) == 0 && ::listen(fd.get(), 4) == 0 ? 0 : errno;
}

uint16_t port_of(const UniqueFd& fd) {
  sockaddr_in6 in{};
  socklen_t size = sizeof in;
  EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&in), &size), 0);
  return ntohs(in.sin6_port);  // where an IPv4 address has it, too
}

UniqueFd tcp(int family) { return UniqueFd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

bool has_ipv6() {
  const UniqueFd probe = tcp(AF_INET6);
  return probe.valid() && bound(probe, AF_INET6, 0) == 0;
}

Comm comm(const std::string& text) {
  auto parsed = parse_comm(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return *std::move(parsed);
}

std::string refusal(const std::string& text) {
  auto opened = listen_tcp(comm(text));
  return opened ? "it listens: " + (*opened)->announcement() : opened.error().text();
}

uint16_t port_in(const std::string& announcement) {
  return static_cast<uint16_t>(std::stoi(announcement.substr(announcement.rfind(' ') + 1)));
}

TEST(TcpListener, HasBothLoopbacksByOneName) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 here";
  for (const std::string text : {":0", "localhost:0", "tcp:localhost:0"}) {
    auto opened = listen_tcp(comm(text));
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    Listener& listener = **opened;
    EXPECT_TRUE(listener.is_local());
    const uint16_t port = port_in(listener.announcement());
    for (const auto& [family, name] : {std::pair(AF_INET6, "::1"), std::pair(AF_INET, "127.0.0.1"),
                                       std::pair(AF_INET6, "::1")}) {
      const UniqueFd client = tcp(family);
      const Spot at = spot(family, port);
      ASSERT_EQ(::connect(client.get(), at.get(), at.size), 0) << text << " at " << name;
      pollfd one{listener.fd(), POLLIN, 0};
      EXPECT_EQ(::poll(&one, 1, 60'000), 1);
      auto caller = listener.accept();
      ASSERT_TRUE(caller.ok()) << caller.error().text();
      EXPECT_NE(caller->name.find(std::string("host ") + name + ","), std::string::npos);
      std::vector<Caller> callers;
      callers.push_back(*std::move(caller));
      listener.identify(callers);
      ASSERT_TRUE(callers[0].user.ok()) << callers[0].user.error().text();
      EXPECT_EQ(*callers[0].user, ::geteuid());
      EXPECT_EQ(::poll(&one, 1, 0), 0);
      errno = 0;
      EXPECT_FALSE(listener.accept().ok());
      EXPECT_EQ(errno, EAGAIN);
    }
    for (const int family : {AF_INET, AF_INET6})
      EXPECT_EQ(bound(tcp(family), family, port), EADDRINUSE) << "whoever comes later";
  }
}

TEST(TcpListener, LeavesNoLoopbackToSomebodyElse) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 here";
  for (const int family : {AF_INET, AF_INET6}) {
    const UniqueFd squatter = tcp(family);
    ASSERT_EQ(bound(squatter, family, 0), 0);
    const std::string port = std::to_string(port_of(squatter));
    const std::string taken = (family == AF_INET ? "" : "at [::1]:") + port;
    for (const std::string host : {"", "localhost"}) {
      const std::string said = refusal(host + ":" + port);
      EXPECT_NE(said.find("Can't bind address"), std::string::npos) << said;
      EXPECT_NE(said.find("Address already in use"), std::string::npos) << said;
      EXPECT_NE(said.find(taken), std::string::npos) << said;
    }
    // Who writes an address means that one.
    const bool four = family == AF_INET;
    auto other = listen_tcp(comm((four ? "[::1]:" : "127.0.0.1:") + port));
    EXPECT_TRUE(other.ok()) << other.error().text();
  }
}

TEST(TcpListener, IsWhereAnAddressSays) {
  for (const int family : {AF_INET, AF_INET6}) {
    if (family == AF_INET6 && !has_ipv6()) continue;
    auto opened = listen_tcp(comm(family == AF_INET ? "127.0.0.1:0" : "[::1]:0"));
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    EXPECT_TRUE((*opened)->is_local());
    const uint16_t port = port_in((*opened)->announcement());
    const UniqueFd client = tcp(family);
    const Spot at = spot(family, port);
    EXPECT_EQ(::connect(client.get(), at.get(), at.size), 0);
    const int second = family == AF_INET ? AF_INET6 : AF_INET;
    const UniqueFd elsewhere = tcp(second);
    const Spot there = spot(second, port);
    if (!elsewhere.valid()) continue;
    EXPECT_NE(::connect(elsewhere.get(), there.get(), there.size), 0) << "it was not named";
  }
}

}  // namespace
}  // namespace tracewell::server
