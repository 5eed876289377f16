// Where a debugger comes from, the thread that reads for the server, and the server's loop.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/file.h"
#include "server/connection/link.h"
#include "server/connection/transport.h"
#include "server/live/loop.h"
#include "server/live/thread_db_path.h"
#include "server/log.h"
#include "target/fake/fake_target.h"

namespace tracewell::server {
namespace {

TEST(Comm, EveryForm) {
  struct Case {
    const char* text;
    Comm::Kind kind;
    const char *host, *port, *path;
  };
  for (const Case& one : {
           Case{"localhost:2345", Comm::Kind::Tcp, "localhost", "2345", ""},
           Case{":0", Comm::Kind::Tcp, "", "0", ""},
           Case{"tcp:host:1", Comm::Kind::Tcp, "host", "1", ""},
           Case{"tcp6:[::1]:65535", Comm::Kind::Tcp, "::1", "65535", ""},
           Case{"::1:2", Comm::Kind::Tcp, "::1", "2", ""},
           Case{"tcp6:::1:80", Comm::Kind::Tcp, "::1", "80", ""},
           Case{"[fe80::1%eth0]:7", Comm::Kind::Tcp, "fe80::1%eth0", "7", ""},
           Case{"unix:/tmp/x:1", Comm::Kind::Unix, "", "", "/tmp/x:1"},
           Case{"unix:relative", Comm::Kind::Unix, "", "", "relative"},
           Case{"/dev/ttyS0", Comm::Kind::Serial, "", "", "/dev/ttyS0"},
           Case{"-", Comm::Kind::Stdio, "", "", ""},
           Case{"stdio", Comm::Kind::Stdio, "", "", ""},
       }) {
    auto comm = parse_comm(one.text);
    ASSERT_TRUE(comm.ok()) << one.text;
    EXPECT_EQ(comm->kind, one.kind) << one.text;
    EXPECT_EQ(comm->host, one.host) << one.text;
    EXPECT_EQ(comm->port, one.port) << one.text;
    EXPECT_EQ(comm->path, one.path) << one.text;
  }
  for (const char* text : {"", "host", "host:", "host:x", "host:65536", "host:-1", "host:+1",
                           "::1::2", "tcp8:123:1", "udp:host:1", "unix:", "host:1 "})
    EXPECT_FALSE(parse_comm(text).ok()) << text;
}

TEST(ThreadDbPath, IsSearchedFolderByFolder) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("thread-db-{}", ::getpid());
  fs::create_directories(folder / "empty");
  fs::create_directories(folder / "full");
  fs::create_directories(folder / "odd" / "libthread_db.so.1");
  ASSERT_TRUE(OutputFile::create((folder / "full" / "libthread_db.so.1").string())->commit().ok());
  ThreadDbPath path;
  EXPECT_TRUE(path.found().ok());
  const auto found = [&](std::string_view text) {
    std::string filled(text);
    for (size_t at; (at = filled.find('%')) != std::string::npos;)
      filled.replace(at, 1, folder.string());
    path.set(filled);
    return path.found().ok();
  };
  EXPECT_FALSE(found("/foo/bar"));
  EXPECT_FALSE(found("%/empty:%/odd:$pdir"));
  EXPECT_FALSE(found("%/full/libthread_db.so.1"));
  EXPECT_TRUE(found("%/empty:%/full"));
  EXPECT_TRUE(found("/foo/bar:$sdir"));
  EXPECT_TRUE(found(""));
  fs::remove_all(folder);
}

TEST(ServeLog, Settings) {
  ServeLog log(STDERR_FILENO);
  EXPECT_TRUE(log.set("debug", "1") && log.debug);
  EXPECT_TRUE(log.set("remote-debug", "1") && log.packets);
  EXPECT_TRUE(log.set("remote-debug", "0") && !log.packets);
  EXPECT_TRUE(log.set("debug-format", "timestamp") && log.timestamps);
  EXPECT_FALSE(log.set("debug", "2"));
  EXPECT_FALSE(log.set("debug-format", "colours"));
  EXPECT_FALSE(log.set("debug-file", "/no/such/folder/x"));
  EXPECT_FALSE(log.set("nonsense", "1"));
}

/// Hands out one end of a socket pair after the other.
class Pairs final : public Transport {
 public:
  Pairs() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ready_ = UniqueFd(ends[0]);
    bell_ = UniqueFd(ends[1]);
  }
  std::string announcement() const override { return "Listening"; }
  int listen_fd() const override { return ready_.get(); }
  Result<Connection> accept() override {
    pollfd knocked{ready_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&knocked, 1, 0), 1) << "nobody is there, and to wait would be forever";
    char c;
    EXPECT_EQ(::read(ready_.get(), &c, 1), 1);
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    debugger = UniqueFd(ends[0]);
    Connection connection;
    connection.input = UniqueFd(ends[1]);
    connection.peer = "a debugger";
    return connection;
  }
  void knock() { EXPECT_EQ(::write(bell_.get(), "x", 1), 1); }
  UniqueFd debugger;

 private:
  UniqueFd ready_, bell_;
};

/// A pipe that is readable when the server shall end.
struct Quit {
  Quit() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0); }
  ~Quit() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void now() { EXPECT_EQ(::write(ends[1], "q", 1), 1); }
  int ends[2];
};

TEST(ServeLog, WaitsForNoReaderWhileSignalsAreOnlyNoted) {
  const std::string fifo = fmt::format("{}fifo-{}", testing::TempDir(), ::getpid());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  Quit quit;
  ServeLog log(STDERR_FILENO);
  log.quit_fd = quit.ends[0];
  EXPECT_FALSE(log.set("debug-file", fifo)) << "nobody reads it";
  const UniqueFd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_TRUE(log.set("debug-file", fifo));
  ::unlink(fifo.c_str());
}

TEST(Link, BringsWhatTheDebuggerSends) {
  Pairs pairs;
  Quit quit;
  std::atomic<int> wakes = 0;
  Link link(pairs, quit.ends[0], [&] { ++wakes; });
  pairs.knock();
  EXPECT_FALSE(link.connected());
  link.open();
  while (!link.connected()) link.wait();
  EXPECT_EQ(link.peer(), "a debugger");
  // More than the inbox takes at once.
  const std::string sent(Link::kInboxMax * 3, 'z');
  std::thread debugger([&] {
    ::fcntl(pairs.debugger.get(), F_SETFL, 0);
    for (size_t at = 0; at < sent.size();) {
      const ssize_t size = ::write(pairs.debugger.get(), sent.data() + at, sent.size() - at);
      ASSERT_GT(size, 0);
      at += static_cast<size_t>(size);
    }
    pairs.debugger.reset();
  });
  std::string got;
  while (!link.lost()) {
    got += link.take_input();
    if (!link.lost()) link.wait();
  }
  debugger.join();
  EXPECT_EQ(got + link.take_input(), sent);
  EXPECT_EQ(wakes, 0);
  link.close();
  EXPECT_FALSE(link.connected());
  pairs.knock();
  link.open();
  while (!link.connected()) link.wait();
  EXPECT_TRUE(link.send("hello"));
  char buffer[5];
  EXPECT_EQ(::read(pairs.debugger.get(), buffer, 5), 5);
  quit.now();
  while (!link.quitting()) link.wait();
}

TEST(Link, WakesWhoeverIsBusyElsewhere) {
  Pairs pairs;
  Quit quit;
  std::atomic<int> wakes = 0;
  Link link(pairs, quit.ends[0], [&] {
    ++wakes;
    wakes.notify_one();
  });
  link.open();
  for (int i = 0; i < 100; ++i) {
    wakes = 0;
    {
      const Link::Watch watch(link);
      pairs.knock();
      wakes.wait(0);
    }
    ASSERT_TRUE(link.connected());
    for (const std::string word : {"one", "two"}) {
      wakes = 0;
      {
        const Link::Watch watch(link);
        ASSERT_EQ(::write(pairs.debugger.get(), word.data(), 3), 3);
        wakes.wait(0);
      }
      ASSERT_EQ(link.take_input(), word);
      ASSERT_EQ(::write(pairs.debugger.get(), "x", 1), 1);  // nobody watches
      while (link.take_input().empty()) link.wait();
    }
    link.close();
    link.open();
    char end = 0;
    ::fcntl(pairs.debugger.get(), F_SETFL, 0);
    ASSERT_EQ(::read(pairs.debugger.get(), &end, 1), 0);
  }
  const Link::Watch watch(link);
  wakes = 0;
  quit.now();
  wakes.wait(0);
  EXPECT_TRUE(link.quitting());
}

TEST(Link, GivesUpSendingWhenTheServerEnds) {
  Pairs pairs;
  Quit quit;
  Link link(pairs, quit.ends[0], [] {});
  pairs.knock();
  link.open();
  while (!link.connected()) link.wait();
  // The debugger reads nothing.
  EXPECT_TRUE(link.send(std::string(10'000'000, 'x')));
  EXPECT_FALSE(link.is_sent());
  std::thread ender([&] { quit.now(); });
  const auto begin = std::chrono::steady_clock::now();
  link.finish_sending(60'000, 60'000);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_TRUE(link.quitting());
  EXPECT_FALSE(link.is_sent());
  ender.join();
}

using Words = std::vector<std::string>;

TEST(ServerLoop, EndsWithItsOnlyConnection) {
  target::FakeTarget target;
  ASSERT_TRUE(target.learn("process 7").ok());
  ASSERT_TRUE(target.learn("process 9 attached").ok());
  Pairs pairs;
  Quit quit;
  std::string said;
  ServerOptions options;
  options.once = true;
  options.session.notice = [&](std::string_view line) { said += std::string(line) + "\n"; };
  Link link(pairs, quit.ends[0], [&] { target.wake(); });
  ServerLoop loop(target, nullptr, link, options);
  pairs.knock();
  std::thread debugger([&] {
    while (!link.connected()) ::usleep(100);
    EXPECT_EQ(::write(pairs.debugger.get(), "$?#3f", 5), 5);
    ::fcntl(pairs.debugger.get(), F_SETFL, 0);
    char buffer[4];
    EXPECT_EQ(::read(pairs.debugger.get(), buffer, 4), 4);
    EXPECT_EQ(std::string_view(buffer, 4), "+$T0");
    pairs.debugger.reset();
  });
  EXPECT_EQ(loop.run(), ServerEnd::Done);
  debugger.join();
  EXPECT_EQ(said, "a debugger\nKilling process(es): 7\nDetaching process(es): 9\n");
  EXPECT_EQ(target.take_calls(), (Words{"kill 7", "detach 9"}));
}

TEST(ServerLoop, EndsWhenAsked) {
  target::FakeTarget target;
  ASSERT_TRUE(target.learn("process 7").ok());
  Pairs pairs;
  Quit quit;
  Link link(pairs, quit.ends[0], [&] { target.wake(); });
  ServerLoop loop(target, nullptr, link, {});
  quit.now();
  EXPECT_EQ(loop.run(), ServerEnd::Interrupted);
  EXPECT_EQ(target.take_calls(), Words{"kill 7"});
}

}  // namespace
}  // namespace tracewell::server
