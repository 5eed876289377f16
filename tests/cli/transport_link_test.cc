// Link: the main thread and the watching one look at the same connection.
#include "cli/transport_link.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>

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

}  // namespace
}  // namespace tracewell::cli
