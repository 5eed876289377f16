// Link: the main thread and the watching one look at the same connection.
#include "server/connection/link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace tracewell::server {
namespace {

/// One of them waits, both see that there is something to read, and the other one reads it. Nobody
/// may then wait for more with the lock held, or the target's next event is told only when the
/// debugger speaks again.
TEST(Link, AWatchEndsThoughTheOtherThreadHasReadEverything) {
  ::alarm(100);  // a hang ends the test
  const std::string path =
      (std::filesystem::temp_directory_path() / ("tw-link-" + std::to_string(::getpid()))).string();
  auto comm = parse_comm("unix:" + path);
  ASSERT_TRUE(comm.ok());
  auto transport = Transport::open(*comm);
  ASSERT_TRUE(transport.ok());
  int quit[2];
  ASSERT_EQ(::pipe(quit), 0);
  {
    Link link(**transport, quit[0], [] {});
    const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::write(client, "$?#3f", 5), 5);  // who says nothing is no debugger
    link.open();
    while (!link.connected()) link.wait();
    ASSERT_EQ(link.take_input(), "$?#3f");
    for (int round = 0; round < 20000; ++round) {
      { const Link::Watch watch(link); }  // leaves the other thread where it polls
      ASSERT_EQ(::write(client, "x", 1), 1);
      std::string got;
      while (got.empty()) {
        link.wait();
        got = link.take_input();
      }
      { const Link::Watch watch(link); }
      ASSERT_TRUE(link.take_input().empty());
    }
    ::close(client);
  }
  ::close(quit[0]);
  ::close(quit[1]);
  ::alarm(0);
}

/// Debuggers that come when the test says so. Each is a pipe.
class Callers final : public Transport {
 public:
  Callers() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  std::string announcement() const override { return ""; }
  int listen_fd() const override { return bell_.get(); }
  Result<Connection> accept() override {
    uint64_t rung = 0;
    if (::read(bell_.get(), &rung, sizeof rung) < 0) return {Errc::NotFound, "nobody"};
    Connection out;
    out.input = std::move(next_);
    return out;
  }
  /// The end that speaks to the server.
  UniqueFd call() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return {};
    next_ = UniqueFd(ends[0]);
    const uint64_t one = 1;
    if (::write(bell_.get(), &one, sizeof one) < 0) return {};
    return UniqueFd(ends[1]);
  }

 private:
  UniqueFd bell_, next_;
};

/// A watch leaves its thread where it polls: at the door. The main thread may let somebody in
/// before that one has looked, and it sleeps on: the next watch is of the connection, all the same.
TEST(Link, AWatchIsOfTheConnectionThatTheOtherThreadLetIn) {
  constexpr int kRounds = 3000;
  // On one processor, the main thread mostly comes first.
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all)) ++cpu;
  CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  int quit[2];
  ASSERT_EQ(::pipe(quit), 0);
  std::mutex mutex;
  std::condition_variable woken;
  int wakes = 0;
  {
    Callers callers;
    Link link(callers, quit[0], [&] {
      const std::lock_guard lock(mutex);
      ++wakes;
      woken.notify_one();
    });
    bool heard = true;
    for (int round = 0; heard && round < kRounds; ++round) {
      link.open();
      {
        const Link::Watch watch(link);
        ::sched_yield();  // so that it polls
      }
      const UniqueFd caller = callers.call();
      while (!link.connected()) link.wait();
      const Link::Watch watch(link);
      std::unique_lock lock(mutex);
      wakes = 0;
      ASSERT_EQ(::write(caller.get(), "x", 1), 1);
      heard = woken.wait_for(lock, std::chrono::seconds(30), [&] { return wakes > 0; });
      EXPECT_TRUE(heard) << "in round " << round;
      lock.unlock();
      link.close();
    }
  }
  ::close(quit[0]);
  ::close(quit[1]);
  ::sched_setaffinity(0, sizeof all, &all);
}

/// A debugger at the other end of a socket, and a link that has let it in.
class LinkOutput : public ::testing::Test {
 protected:
  /// One caller, who is there already.
  class Caller final : public Transport {
   public:
    explicit Caller(UniqueFd end) : end_(std::move(end)) {}
    std::string announcement() const override { return ""; }
    int listen_fd() const override { return -1; }
    Result<Connection> accept() override {
      Connection out;
      out.input = std::move(end_);
      return out;
    }

   private:
    UniqueFd end_;
  };

  void SetUp() override {
    ::alarm(100);  // a hang ends the test
    std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    theirs_ = UniqueFd(ends[0]);
    caller_ = std::make_unique<Caller>(UniqueFd(ends[1]));
    ASSERT_EQ(::pipe2(quit_, O_CLOEXEC), 0);
    link_ = std::make_unique<Link>(*caller_, quit_[0], [this] { ++wakes_; });
    link_->open();
    while (!link_->connected()) link_->wait();
  }
  void TearDown() override {
    link_.reset();
    ::close(quit_[0]);
    ::close(quit_[1]);
    std::signal(SIGPIPE, SIG_DFL);
    ::alarm(0);
  }
  /// What can be read now.
  std::string read() const {
    char buffer[1 << 16];
    const ssize_t size = ::read(theirs_.get(), buffer, sizeof buffer);
    return size > 0 ? std::string(buffer, static_cast<size_t>(size)) : std::string();
  }

  UniqueFd theirs_;
  std::unique_ptr<Caller> caller_;
  int quit_[2] = {-1, -1};
  std::atomic<int> wakes_ = 0;
  std::unique_ptr<Link> link_;
};

std::string numbered(size_t bytes) {
  std::string out;
  for (size_t i = 0; out.size() < bytes; ++i) out += std::to_string(i) + ' ';
  out.resize(bytes);
  return out;
}

TEST_F(LinkOutput, WaitsInAQueueUntilItIsRead) {
  const std::string all = numbered(3 * Link::kOutboxMax);
  const size_t piece = 100'000;
  size_t sent = 0;
  while (sent < all.size() && link_->has_room()) {
    ASSERT_TRUE(link_->send(std::string_view(all).substr(sent, piece)));
    sent = std::min(all.size(), sent + piece);
  }
  EXPECT_FALSE(link_->has_room());
  EXPECT_GE(sent, Link::kOutboxMax);
  EXPECT_LT(sent, all.size());
  std::string got;
  while (!link_->is_sent() || sent < all.size()) {
    got += read();
    link_->wait(0);
    if (!link_->has_room() || sent == all.size()) continue;
    ASSERT_TRUE(link_->send(std::string_view(all).substr(sent, piece)));
    sent = std::min(all.size(), sent + piece);
  }
  for (std::string more = read(); !more.empty(); more = read()) got += more;
  EXPECT_EQ(got == all, true);
}

/// The main thread waits for the target meanwhile, and is woken once there is room.
TEST_F(LinkOutput, IsSentByTheWatchToo) {
  const std::string all = numbered(Link::kOutboxMax + 500'000);
  { const Link::Watch watch(*link_); }  // its thread polls where nothing was to be sent
  ASSERT_TRUE(link_->send(all));
  ASSERT_FALSE(link_->has_room());
  std::string got;
  {
    const Link::Watch watch(*link_);
    while (wakes_ == 0) got += read();
    while (got.size() < all.size()) got += read();
  }
  EXPECT_EQ(got == all, true);
  EXPECT_TRUE(link_->is_sent());
}

TEST_F(LinkOutput, EndsWithWhoWouldReadIt) {
  const std::string all = numbered(2 * Link::kOutboxMax);
  ASSERT_TRUE(link_->send(all));
  link_->finish_sending(50, 60'000);  // who reads nothing is not waited for
  EXPECT_FALSE(link_->is_sent());
  theirs_.reset();
  while (link_->send("more")) link_->wait();
  EXPECT_TRUE(link_->is_sent());
  EXPECT_TRUE(link_->unheard());
  EXPECT_FALSE(link_->send(""));
}

}  // namespace
}  // namespace tracewell::server
