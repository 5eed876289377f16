// The Door: who gets past it, in which order, and what becomes of the others.
#include "server/connection/door.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/connection/peer.h"

namespace tracewell::server {
namespace {

constexpr uint32_t kOwner = 1000, kStranger = 2000;

Result<uint32_t> user(uint32_t uid) { return uid; }

/// Hands out one end of a socket pair after the other. The wait for them is a pipe's.
class Street final : public Listener {
 public:
  Street() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ready_ = UniqueFd(ends[0]);
    bell_ = UniqueFd(ends[1]);
  }
  std::string announcement() const override { return "Listening"; }
  int fd() const override { return ready_.get(); }
  bool is_local() const override { return local; }
  Result<Caller> accept() override {
    if (callers_.empty()) {
      errno = EAGAIN;
      return Error{Errc::Io, "nobody", {}};
    }
    char c;
    EXPECT_EQ(::read(ready_.get(), &c, 1), 1);
    Caller caller = std::move(callers_.front());
    callers_.pop_front();
    return caller;
  }
  /// The other end.
  UniqueFd knock(const std::string& name, Result<uint32_t> who) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    Caller& caller = callers_.emplace_back();
    caller.fd = UniqueFd(ends[1]);
    caller.name = name;
    caller.user = std::move(who);
    EXPECT_EQ(::write(bell_.get(), "x", 1), 1);
    return UniqueFd(ends[0]);
  }
  void identify(std::vector<Caller>& callers) const override { asked.push_back(callers.size()); }
  bool local = true;
  mutable std::vector<size_t> asked;  // of how many, each time

 private:
  UniqueFd ready_, bell_;
  std::deque<Caller> callers_;
};

struct House {
  explicit House(std::chrono::milliseconds patience = std::chrono::hours(1),
                 std::chrono::milliseconds notice_period = std::chrono::hours(1)) {
    auto listener = std::make_unique<Street>();
    street = listener.get();
    DoorRules rules;
    rules.admission.pretend(kOwner, "");
    rules.admission.pretend_unmapped(false);
    rules.patience = patience;
    rules.notice_period = notice_period;
    rules.notice = [this](std::string_view line) { said += std::string(line) + "\n"; };
    auto opened = Door::open(std::move(listener), rules);
    EXPECT_TRUE(opened.ok());
    door = *std::move(opened);
  }
  bool is_readable(int wait_ms = 0) const {
    pollfd one{door->listen_fd(), POLLIN, 0};
    return ::poll(&one, 1, wait_ms) > 0;
  }
  /// Who comes in; "" = nobody.
  std::string next() {
    auto connection = door->accept();
    if (!connection) return "";
    early = connection->early;
    return connection->peer;
  }
  Street* street;
  std::string said, early;
  std::unique_ptr<Transport> door;
};

void say(const UniqueFd& fd, std::string_view text) {
  EXPECT_EQ(::write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

std::string hear(const UniqueFd& fd) {
  std::string out(4096, '\0');
  const ssize_t size = ::read(fd.get(), out.data(), out.size());
  out.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return out;
}

/// Has the other side closed?
bool is_over(const UniqueFd& fd) {
  char c;
  return ::read(fd.get(), &c, 1) == 0 || errno == ECONNRESET;
}

TEST(Door, LetsInWhoeverSpeaksFirst) {
  House house;
  const UniqueFd silent = house.street->knock("silent", user(kOwner));
  const UniqueFd half = house.street->knock("half", user(kOwner));
  say(half, "+$qSupp");
  EXPECT_TRUE(house.is_readable());
  EXPECT_EQ(house.next(), "");
  EXPECT_FALSE(house.is_readable());
  const UniqueFd debugger = house.street->knock("debugger", user(kOwner));
  const UniqueFd root = house.street->knock("root", user(0));
  say(debugger, "+$qSupported:x#e9");
  say(root, "$?#3f\n");
  EXPECT_EQ(house.next(), "debugger");
  EXPECT_EQ(house.early, "+$qSupported:x#e9");
  EXPECT_TRUE(house.is_readable(60'000)) << "another one has spoken, and nothing else is to come";
  EXPECT_EQ(house.next(), "root");
  EXPECT_EQ(house.early, "$?#3f\n");
  EXPECT_EQ(house.next(), "");
  say(half, "orted#37");
  EXPECT_EQ(house.next(), "half");
  EXPECT_EQ(house.early, "+$qSupported#37");
  EXPECT_FALSE(is_over(silent));
  EXPECT_EQ(house.said, "");
}

TEST(Door, EndsPatience) {
  House house(std::chrono::milliseconds(20));
  const UniqueFd silent = house.street->knock("silent", user(kOwner));
  const UniqueFd half = house.street->knock("half", user(kOwner));
  say(half, "+\x03$q");
  EXPECT_EQ(house.next(), "");
  while (house.said.empty()) {
    ASSERT_TRUE(house.is_readable(60'000)) << "nobody is woken";
    EXPECT_EQ(house.next(), "");
  }
  while (!is_over(silent) || !is_over(half)) {
    ASSERT_TRUE(house.is_readable(60'000));
    EXPECT_EQ(house.next(), "");
  }
  EXPECT_NE(house.said.find("half: closed, since it has not sent a packet"), std::string::npos);
}

TEST(Door, RefusesWithAReason) {
  House house;
  const UniqueFd stranger = house.street->knock("stranger", user(kStranger));
  const UniqueFd ghost = house.street->knock("ghost", Error{Errc::NotFound, "gone", {}});
  EXPECT_EQ(house.next(), "");
  EXPECT_EQ(hear(stranger), "") << "GDB takes what comes before its first packet for junk";
  say(stranger, "+$qSupported#37" + rsp::frame("vRun;2f", false));
  say(ghost, "$?#3f");
  EXPECT_EQ(house.next(), "");
  for (const UniqueFd* one : {&stranger, &ghost}) {
    const std::string reply = hear(*one);
    EXPECT_TRUE(reply.starts_with("+$E.this server is for")) << reply;
    EXPECT_NE(reply.find("--allow-users"), std::string::npos) << reply;
    EXPECT_NE(reply.find("unix:PATH"), std::string::npos) << reply;
    EXPECT_EQ(reply[reply.size() - 3], '#') << reply;
  }
  EXPECT_NE(house.said.find("stranger: refused: "), std::string::npos);
  EXPECT_NE(house.said.find("ghost: refused: "), std::string::npos);
}

/// So many strangers, who are refused.
std::vector<UniqueFd> crowd_at(House& house, int many) {
  std::vector<UniqueFd> crowd;
  for (int i = 0; i < many; ++i) {
    crowd.push_back(house.street->knock("stranger", user(kStranger)));
    if (i % 32 == 31 || i + 1 == many) {
      EXPECT_EQ(house.next(), "");
    }
  }
  return crowd;
}

TEST(Door, TellsHowManyItHasNotListed) {
  House house(std::chrono::hours(1), std::chrono::milliseconds(3000));
  const std::vector<UniqueFd> crowd = crowd_at(house, Door::kNoticesMax + 5);
  EXPECT_EQ(house.said.find("more connections"), std::string::npos);
  while (house.said.find("5 more connections were closed and not listed") == std::string::npos) {
    ASSERT_TRUE(house.is_readable(60'000)) << "nobody is woken";
    EXPECT_EQ(house.next(), "");
  }
  EXPECT_FALSE(house.is_readable());
}

TEST(Door, TellsHowManyItHasNotListedWhenItEnds) {
  House house;
  const std::vector<UniqueFd> crowd = crowd_at(house, Door::kNoticesMax + 3);
  EXPECT_EQ(house.said.find("more connections"), std::string::npos);
  house.door.reset();
  EXPECT_TRUE(house.said.ends_with("\n3 more connections were closed and not listed here\n"))
      << house.said.substr(house.said.rfind('\n', house.said.size() - 2));
}

TEST(Door, AsksNobodyWhereUsersCannotBeKnown) {
  House house;
  house.street->local = false;
  EXPECT_NE(house.door->warning(), "");
  const UniqueFd far = house.street->knock("far", Error{Errc::NotFound, "not here", {}});
  say(far, "$?#3f");
  EXPECT_EQ(house.next(), "far");
}

/// Neither a crowd of refused ones nor one of silent ones keeps a debugger out, or fills memory.
TEST(Door, HasRoomForADebugger) {
  House house;
  std::vector<UniqueFd> crowd;
  for (size_t i = 0; i < 4 * Door::kWaitingMax; ++i) {
    crowd.push_back(house.street->knock("refused", user(kStranger)));
    crowd.push_back(house.street->knock("silent", user(kOwner)));
  }
  const UniqueFd debugger = house.street->knock("debugger", user(kOwner));
  say(debugger, "$?#3f");
  std::string found;
  for (int i = 0; i < 100 && found.empty(); ++i) found = house.next();
  EXPECT_EQ(found, "debugger");
  size_t open = 0;
  for (const UniqueFd& one : crowd) open += is_over(one) ? 0 : 1;
  EXPECT_LE(open, 2 * Door::kWaitingMax);
  EXPECT_GT(open, 0u);
}

/// One that has spoken keeps its place, whoever comes after it.
TEST(Door, KeepsWhoHasSpoken) {
  House house;
  const UniqueFd first = house.street->knock("first", user(kOwner));
  say(first, "$?#3f");
  EXPECT_EQ(house.next(), "first");
  const UniqueFd second = house.street->knock("second", user(kOwner));
  say(second, "$?#3f");
  std::vector<UniqueFd> crowd;
  for (size_t i = 0; i < 4 * Door::kWaitingMax; ++i)
    crowd.push_back(house.street->knock("silent", user(kOwner)));
  EXPECT_EQ(house.next(), "second");
}

TEST(Door, ClosesWhatIsNoDebugger) {
  for (const std::string_view text :
       {"POST / HTTP/1.1\r\n\r\n$?#3f", "GET /$?#3f", "+ / HTTP/1.1\r\n\r\n$?#3f", "\n$?#3f",
        " $?#3f", "$k#6b / HTTP/1.1\r\n$?#3f", "-%x#78$k#6bx", "$Hc-1#09 / HTTP/1.1\r\n\r\n$?#3f",
        "$QStartNoAckMode#b0$ / HTTP/1.1\r\nHost: x\r\n\r\n#00$?#3f",
        "$k#6b$ / HTTP/1.1\r\n\r\n#00",
        "$?#00", "$$?#3f", "\x16\x03\x01\x02", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}) {
    House house;
    const UniqueFd browser = house.street->knock("browser", user(kOwner));
    say(browser, text);
    EXPECT_EQ(house.next(), "") << text;
    EXPECT_TRUE(is_over(browser)) << text;
    EXPECT_EQ(house.said, "browser: closed: it does not speak GDB's remote protocol\n");
  }
}

/// A request in as many pieces as there can be, each of which is looked at by itself. Only behind a
/// whole packet of those that change nothing somebody may be let in; it is no whole request then.
TEST(Door, ClosesARequestHoweverItIsCut) {
  const std::string quiet = rsp::frame("QStartNoAckMode", false);
  for (const std::string& method : {quiet + "$", std::string("$k#6b$"), std::string("+$k#6"),
                                    std::string("$k"), std::string("$")}) {
    const std::string request =
        method + " /$?#3f HTTP/1.1\r\nHost: x\r\n\r\n#00$?#3f" + rsp::frame("vRun;2f", false);
    for (size_t cut = 1; cut < request.size(); ++cut) {
      House house;
      const UniqueFd browser = house.street->knock("browser", user(kOwner));
      say(browser, request.substr(0, cut));
      const std::string who = house.next();
      if (cut == quiet.size() && method.starts_with(quiet)) {
        EXPECT_EQ(house.early, quiet);
        continue;
      }
      if (cut == quiet.size() + 1 && method.starts_with(quiet)) continue;
      EXPECT_EQ(who, "") << request.substr(0, cut);
      (void)!::send(browser.get(), request.data() + cut, request.size() - cut, MSG_NOSIGNAL);
      EXPECT_EQ(house.next(), "") << request.substr(0, cut);
      (void)hear(browser);  // why
      EXPECT_TRUE(is_over(browser)) << request.substr(0, cut);
    }
  }
}

/// All that has come counts, more than one look reads, and also while others are before it.
TEST(Door, LooksAtAllThatHasCome) {
  for (const std::string_view packet : {"$k#6b", "$Hc-1#09"}) {
    for (const bool in_front : {false, true}) {
      House house;
      const UniqueFd browser = house.street->knock("browser", user(kOwner));
      const std::string pad(16384 - packet.size(), '+');
      say(browser, in_front ? pad + std::string(packet) : std::string(packet) + pad);
      say(browser, " / HTTP/1.1\r\n\r\n$?#3f");
      EXPECT_EQ(house.next(), "");
      EXPECT_TRUE(is_over(browser));
    }
  }
  House house;
  const UniqueFd first = house.street->knock("first", user(kOwner));
  const UniqueFd browser = house.street->knock("browser", user(kOwner));
  say(first, "$?#3f");
  say(browser, "$Hc-1#09");
  EXPECT_EQ(house.next(), "first");
  say(browser, " / HTTP/1.1\r\n\r\n$?#3f");
  EXPECT_EQ(house.next(), "");
  EXPECT_TRUE(is_over(browser));
}

TEST(Door, LetsDebuggersInHoweverTheirWordsAreCut) {
  for (const std::string_view body : {"qSupported:swbreak+;xmlRegisters=i386", "qSupported", "Hc-1",
                                      "?", "QStartNoAckMode", "vMustReplyEmpty", "m401000,4"}) {
    const std::string text = "+" + rsp::frame(body, false);
    for (size_t cut = 1; cut < text.size(); ++cut) {
      House house;
      const UniqueFd debugger = house.street->knock("debugger", user(kOwner));
      say(debugger, text.substr(0, cut));
      EXPECT_EQ(house.next(), "");
      say(debugger, text.substr(cut));
      EXPECT_EQ(house.next(), "debugger") << text;
      EXPECT_EQ(house.early, text);
      EXPECT_EQ(house.said, "");
    }
  }
  House house;
  UniqueFd brief = house.street->knock("brief", user(kOwner));
  say(brief, "$Hc-1#09");
  ::shutdown(brief.get(), SHUT_WR);
  EXPECT_EQ(house.next(), "brief") << "who listens still";
}

TEST(Door, SaysHowToBegin) {
  House house;
  const UniqueFd script = house.street->knock("script", user(kOwner));
  say(script, "$g#67");
  EXPECT_EQ(house.next(), "");
  const std::string reply = hear(script);
  EXPECT_TRUE(reply.starts_with("+$E.")) << reply;
  EXPECT_NE(reply.find("qSupported:"), std::string::npos) << reply;
  EXPECT_EQ(house.said, "script: closed: it begins with a packet that a web page can send\n");
  say(script, "$?#3f");
  EXPECT_EQ(house.next(), "") << "that is too late";
}

TEST(Door, BoundsTheFirstPacket) {
  House house;
  const UniqueFd endless = house.street->knock("endless", user(kOwner));
  say(endless, "$m,");
  const std::string more(1 << 14, 'a');
  for (int i = 0; i < 1000 && !is_over(endless); ++i) {
    (void)!::send(endless.get(), more.data(), more.size(), MSG_NOSIGNAL);
    EXPECT_EQ(house.next(), "");
  }
  EXPECT_TRUE(is_over(endless));
}

sockaddr_storage address(std::string_view text, uint16_t port) {
  sockaddr_storage out{};
  if (text.find(':') == text.npos) {
    auto& in = reinterpret_cast<sockaddr_in&>(out);
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    EXPECT_EQ(::inet_pton(AF_INET, std::string(text).c_str(), &in.sin_addr), 1);
  } else {
    auto& in = reinterpret_cast<sockaddr_in6&>(out);
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    EXPECT_EQ(::inet_pton(AF_INET6, std::string(text).c_str(), &in.sin6_addr), 1);
  }
  return out;
}

TEST(Peer, IsFoundInTheTableOfConnections) {
  constexpr std::string_view kHead =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n";
  const auto here = address("127.0.0.1", 0x929), there = address("127.0.0.1", 0xd431);
  const auto look = [&](std::string_view line) {
    auto found = user_in_table(std::string(kHead) + std::string(line), there, here);
    return found ? static_cast<int64_t>(*found) : -1;
  };
  const std::string row = "   0: 0100007F:D431 0100007F:0929 01 00000000:00000000 00:00000000 "
                          "00000000  1000        0 4711 1 0000000000000000 20 4 30 10 -1\n";
  EXPECT_EQ(look(row), 1000);
  EXPECT_EQ(look("   0: 0000000000000000FFFF00000100007F:D431 "
                 "0000000000000000FFFF00000100007F:0929 01 00000000:00000000 00:00000000 00000000 "
                 " 1001        0 4711\n"),
            1001);
  // Who has ended its side is there, and may listen.
  for (const std::string state : {" 04 ", " 05 "}) {
    std::string ended = row;
    ended.replace(ended.find(" 01 "), state.size(), state);
    EXPECT_EQ(look(ended), 1000) << state;
  }
  // Closed, waiting, on its way, listening; the other direction; another port; cut.
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {" 4711 ", " 0 "}, {" 01 ", " 06 "}, {" 01 ", " 02 "}, {" 01 ", " 07 "},
           {" 01 ", " 0A "}, {":D431", ":D432"}, {":0929", ":0930"}, {" 1000 ", " x "},
           {"0 4711", "0"}}) {
    std::string other = row;
    other.replace(other.find(from), from.size(), to);
    if (from == "0 4711") other.resize(other.find("1000") + 12);
    EXPECT_EQ(look(other), -1) << other;
  }
  EXPECT_EQ(look(""), -1);
  const auto six = user_in_table(
      "head\n 1: 00000000000000000000000001000000:0002 00000000000000000000000001000000:0001 01 "
      "0:0 0:0 0 7 0 9\n",
      address("::1", 2), address("::1", 1));
  EXPECT_TRUE(six.ok() && *six == 7);
}

TEST(Door, AsksOnceWhoAllAreThatWait) {
  House house;
  std::vector<UniqueFd> all;
  for (int i = 0; i < 5; ++i)
    all.push_back(house.street->knock(std::to_string(i), user(i == 3 ? kOwner : kStranger)));
  say(all[3], "$qSupported#37");
  EXPECT_EQ(house.next(), "3");
  EXPECT_EQ(house.street->asked, std::vector<size_t>{5});
  EXPECT_EQ(house.next(), "");
  EXPECT_EQ(house.street->asked.size(), 1u) << "there is nobody new";
}

/// As in a sandbox: there is no sock_diag for this thread.
void without_netlink() {
  const sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(code), const_cast<sock_filter*>(code)};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(Peer, ManyAreFoundInTheTablesAtOnce) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_storage at = address("127.0.0.1", 0);
  socklen_t size = sizeof(sockaddr_in);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  std::vector<UniqueFd> clients, servers;
  std::vector<int> fds;
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(::connect(clients.back().get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    servers.emplace_back(::accept(listener.get(), nullptr, nullptr));
    fds.push_back(servers.back().get());
  }
  clients[2].reset();
  std::thread([&] {
    without_netlink();
    const auto users = tcp_peer_users(fds);
    ASSERT_EQ(users.size(), fds.size());
    for (size_t i = 0; i < users.size(); ++i) {
      ASSERT_EQ(users[i].ok(), i != 2) << i;
      if (i != 2) {
        EXPECT_EQ(*users[i], ::geteuid());
      }
    }
  }).join();
}

TEST(Peer, IsWhoeverHoldsTheOtherEnd) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_storage at = address("127.0.0.1", 0);
  socklen_t size = sizeof(sockaddr_in);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  UniqueFd client(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  const UniqueFd server(::accept(listener.get(), nullptr, nullptr));
  const auto held = tcp_peer_user(server.get());
  ASSERT_TRUE(held.ok()) << held.error().text();
  EXPECT_EQ(*held, ::geteuid());
  ASSERT_EQ(::shutdown(client.get(), SHUT_WR), 0);
  const auto ended = tcp_peer_user(server.get());
  ASSERT_TRUE(ended.ok()) << ended.error().text() << ": it has ended its side alone";
  EXPECT_EQ(*ended, ::geteuid());
  client.reset();
  EXPECT_FALSE(tcp_peer_user(server.get()).ok()) << "a closed one is nobody's";
}

TEST(Admission, KnowsUsers) {
  Admission own;
  own.pretend(kOwner, "");
  own.pretend_unmapped(false);
  EXPECT_TRUE(own.admits(user(kOwner)).ok());
  EXPECT_TRUE(own.admits(user(0)).ok());
  EXPECT_FALSE(own.admits(user(kStranger)).ok());
  EXPECT_FALSE(own.admits(Error{Errc::NotFound, "", {}}).ok());

  auto more = Admission::parse("2000,root");
  ASSERT_TRUE(more.ok());
  more->pretend(kOwner, "");
  EXPECT_TRUE(more->admits(user(kStranger)).ok());
  EXPECT_FALSE(more->admits(user(kStranger + 1)).ok());
  EXPECT_FALSE(more->any());

  auto any = Admission::parse("any");
  ASSERT_TRUE(any.ok());
  EXPECT_TRUE(any->any());
  EXPECT_TRUE(any->admits(Error{Errc::NotFound, "", {}}).ok());

  for (const std::string_view text : {"no-such-user", "root,", ",", "-1", "4294967295", "0x"})
    EXPECT_FALSE(Admission::parse(text).ok()) << text;

  // Where some users have no number, the number that stands for all of those is nobody's, be it the
  // server's own.
  own.pretend(65534, "");
  EXPECT_TRUE(own.admits(user(65534)).ok());
  own.pretend_unmapped(true);
  EXPECT_FALSE(own.admits(user(65534)).ok());
  EXPECT_TRUE(own.admits(user(0)).ok());
}

TEST(Admission, TellsWhoStartedItThroughSudo) {
  Admission root;
  root.pretend(0, "2000");
  EXPECT_NE(root.admits(user(kStranger)).error().message.find("started it through sudo"),
            std::string::npos);
  EXPECT_EQ(root.admits(user(kOwner)).error().message.find("sudo"), std::string::npos);
}

}  // namespace
}  // namespace tracewell::server
