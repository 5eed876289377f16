// Link: the main thread and the watching one look at the same connection.
#include "cli/transport_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

namespace tracewell::cli {
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

}  // namespace
}  // namespace tracewell::cli
