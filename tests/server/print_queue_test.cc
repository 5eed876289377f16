#include "server/live/print_queue.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/files/named.h"
#include "base/files/unique_fd.h"

namespace tracewell::server {
namespace {

using Clock = std::chrono::steady_clock;

/// However slow the machine is.
constexpr PrintQueue::Patience kLong{60'000, 60'000};
constexpr PrintQueue::Patience kNone{0, 0};

/// This thread cannot open that file once more, as another user's; also where it is root's.
class NotToOpen {
 public:
  explicit NotToOpen(int fd) {
    EXPECT_EQ(fchmod(fd, 0), 0);
    EXPECT_EQ(syscall(SYS_capget, &header_, before_.data()), 0);
    auto without = before_;
    without[0].effective &= ~(1U << CAP_DAC_OVERRIDE);
    EXPECT_EQ(syscall(SYS_capset, &header_, without.data()), 0);
    EXPECT_FALSE(open_named_for("/proc/self/fd/" + std::to_string(fd),
                                {.read = false, .write = true, .wait = false}).ok());
  }
  ~NotToOpen() { EXPECT_EQ(syscall(SYS_capset, &header_, before_.data()), 0); }
  NotToOpen(const NotToOpen&) = delete;
  NotToOpen& operator=(const NotToOpen&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> before_{};
};

enum class Kind : uint8_t { Pipe, AnothersPipe, Socket };

/// Both ends of a pipe or a pair of sockets, and nothing tells the queue to quit.
class PrintQueues : public testing::TestWithParam<Kind> {
 protected:
  PrintQueues() {
    const bool pipes = GetParam() != Kind::Socket;
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipes ? pipe2(ends, O_CLOEXEC) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    reads_ = UniqueFd(ends[0]);
    writes_ = UniqueFd(ends[1]);
    if (GetParam() == Kind::AnothersPipe) anothers_.emplace(ends[1]);
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    quit_ = UniqueFd(ends[0]);
    quits_ = UniqueFd(ends[1]);
  }
  /// So many bytes, and more up to a line's end.
  std::string read(size_t bytes) {
    std::string out;
    std::array<char, 1 << 16> some;
    while (out.size() < bytes || out.back() != '\n') {
      const ssize_t got = ::read(reads_.get(), some.data(), some.size());
      if (got <= 0) break;
      out.append(some.data(), static_cast<size_t>(got));
    }
    return out;
  }
  std::string read_to_note() {
    std::string out = read(1);
    while (!out.ends_with(" print\n")) out += read(1);
    return out;
  }
  void wait_until_full() {
    struct pollfd one{writes_.get(), POLLOUT, 0};
    while (poll(&one, 1, 0) > 0) std::this_thread::yield();
  }
  static std::string line(size_t number) { return std::to_string(100'000 + number) + "\n"; }

  UniqueFd reads_, writes_, quit_, quits_;
  std::optional<NotToOpen> anothers_;
};

TEST_P(PrintQueues, WhatIsReadIsWrittenAtOnce) {
  PrintQueue queue(writes_.get(), quit_.get());
  for (const char* text : {"one\n", "two\n"}) {
    queue.print(text);
    EXPECT_EQ(read(4), text);
  }
  EXPECT_EQ(queue.finish(kLong, kLong), 0U);
}

TEST_P(PrintQueues, WhatNobodyReadsHoldsNobodyAndIsCounted) {
  constexpr size_t kLines = 1'000'000, kFill = 15'000;  // 7 bytes each
  PrintQueue queue(writes_.get(), quit_.get());
  for (size_t i = 0; i < kLines; ++i) {
    if (i == kFill) wait_until_full();  // from now on, the queue has room for less and less
    queue.print(line(i));
  }
  const uint64_t unread = queue.finish(kNone, kNone);
  EXPECT_GT(unread, kLines / 2);
  EXPECT_LT(unread, kLines);
  // It is all there up to the first that is missing; then that is told, once.
  const std::string got = read_to_note();
  size_t at = 0, lines = 0;
  for (; got.substr(at, 7) == line(lines); at += 7) ++lines;
  EXPECT_EQ(got.substr(at), "tracewell: " + std::to_string(kLines - lines) +
                                " texts are missing here: nobody read what breakpoint commands "
                                "print\n");
  EXPECT_LE(lines * 7, PrintQueue::kWaitingMax + (1U << 20)) << "and what the system holds";
  queue.print("again\n");
  EXPECT_EQ(read(6), "again\n");
  EXPECT_EQ(queue.finish(kLong, kLong), 0U);
}

/// Nothing but the reader does anything.
TEST_P(PrintQueues, WhatWaitsGoesOutByItself) {
  PrintQueue queue(writes_.get(), quit_.get());
  std::string all;
  for (size_t i = 0; i < 40; ++i) {
    all.append(20'000, static_cast<char>('A' + i));
    all += '\n';
    queue.print(std::string_view(all).substr(i * 20'001));
  }
  EXPECT_EQ(read(all.size()), all);
}

TEST_P(PrintQueues, ANoteBeginsALine) {
  PrintQueue queue(writes_.get(), quit_.get());
  const std::string text(60'000, 'x');
  for (size_t i = 0; i < 100; ++i) queue.print(text);
  const std::string got = read_to_note();
  const size_t end = got.find('\n');
  EXPECT_EQ(end % text.size(), 0U);
  EXPECT_EQ(got.substr(end, 12), "\ntracewell: ");
}

TEST_P(PrintQueues, TheEndWaitsForWhoReadsAndNotForLong) {
  const std::string text(1 << 16, 'x');
  PrintQueue queue(writes_.get(), quit_.get());
  for (size_t i = 0; i < 15; ++i) queue.print(text);
  const auto begin = Clock::now();
  EXPECT_GT(queue.finish({50, 60'000}, kLong), 0U);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30)) << "nobody reads";
  ASSERT_EQ(write(quits_.get(), "q", 1), 1);
  EXPECT_GT(queue.finish(kLong, {50, 60'000}), 0U);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30)) << "it is to end";
  EXPECT_GT(queue.finish(kLong, {60'000, 50}), 0U);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30)) << "at last";
}

TEST_P(PrintQueues, WhoReadsGetsAllAlsoAfterASignal) {
  const std::string text(1 << 16, 'x');
  PrintQueue queue(writes_.get(), quit_.get());
  for (size_t i = 0; i < 15; ++i) queue.print(text);
  queue.print("end\n");
  ASSERT_EQ(write(quits_.get(), "q", 1), 1);
  auto got = std::async(std::launch::async, [&] { return read(15 * text.size() + 4); });
  EXPECT_EQ(queue.finish(kLong, kLong), 0U);
  writes_ = {};
  EXPECT_EQ(got.get().size(), 15 * text.size() + 4);
}

TEST_P(PrintQueues, NobodyCanReadAnyMore) {
  PrintQueue queue(writes_.get(), quit_.get());
  signal(SIGPIPE, SIG_IGN);
  for (size_t i = 0; i < 15; ++i) queue.print(std::string(1 << 16, 'x'));
  reads_ = {};
  queue.print("more\n");
  EXPECT_EQ(queue.finish(kLong, kLong), 0U);
  signal(SIGPIPE, SIG_DFL);
}

/// Not by us: the descriptor is the program's, too.
TEST_P(PrintQueues, TheDescriptorBlocksAsBefore) {
  const PrintQueue queue(writes_.get(), quit_.get());
  EXPECT_EQ(fcntl(writes_.get(), F_GETFL) & O_NONBLOCK, 0);
}

INSTANTIATE_TEST_SUITE_P(PipesAndSocket, PrintQueues,
                         testing::Values(Kind::Pipe, Kind::AnothersPipe, Kind::Socket));

/// A terminal says that it can be written to, and then waits where it has less room than there is
/// to write; as a pipe does that somebody else fills meanwhile.
TEST(PrintQueue, NothingWaitsForAnothersTerminal) {
  UniqueFd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(master.valid()) << "no terminals here";
  ASSERT_EQ(grantpt(master.get()), 0);
  ASSERT_EQ(unlockpt(master.get()), 0);
  const UniqueFd slave(open(ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(slave.valid());
  const NotToOpen anothers(slave.get());
  std::promise<uint64_t> unread;
  auto told = unread.get_future();
  std::thread traces([&] {
    uint64_t texts = 0;
    {
      PrintQueue queue(slave.get(), -1);
      for (size_t i = 0; i < 500; ++i) queue.print(std::string(100 + i * 997 % 4000, 'x'));
      for (size_t i = 0; i < 30; ++i) {  // there is room for less than a text, most times
        std::array<char, 700> some;
        EXPECT_GT(read(master.get(), some.data(), some.size()), 0);
        queue.print("more");
      }
      texts = queue.finish({50, 60'000}, kLong);
    }
    unread.set_value(texts);
  });
  EXPECT_EQ(told.wait_for(std::chrono::seconds(30)), std::future_status::ready) << "it waits";
  master = {};  // and waits no more
  traces.join();
  EXPECT_GT(told.get(), 0U);
}

TEST(PrintQueue, WhatAFullDiskRefusesIsCounted) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  PrintQueue queue(full.get(), -1);
  queue.print("one\n");
  queue.print("two\n");
  EXPECT_EQ(queue.finish(kLong, kLong), 2U);
}

TEST(PrintQueue, PrintingGoesOnWhenTheDiskHasRoomAgain) {
  constexpr size_t kTexts = 1000;
  const std::string text = std::string(4999, 'x') + "\n";
  const UniqueFd file(memfd_create("printed", MFD_CLOEXEC));
  ASSERT_TRUE(file.valid());
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit little{8192, before.rlim_max};
  PrintQueue queue(file.get(), -1);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  for (size_t i = 0; i < kTexts; ++i) queue.print(text);
  const uint64_t refused = queue.finish(kLong, kLong);
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(refused, kTexts - 1);
  queue.print("again\n");
  EXPECT_EQ(queue.finish(kLong, kLong), 0U);
  std::string got(kTexts * text.size(), '\0');
  const ssize_t size = pread(file.get(), got.data(), got.size(), 0);
  ASSERT_GT(size, 0);
  got.resize(static_cast<size_t>(size));
  size_t texts = 0;  // at its beginning
  while (got.starts_with(text)) {
    got.erase(0, text.size());
    ++texts;
  }
  EXPECT_GT(texts, 1U) << "what waited";
  EXPECT_TRUE(got == "tracewell: " + std::to_string(kTexts - texts) +
                         " texts are missing here: nobody read what breakpoint commands print\n"
                         "again\n")
      << got.size() << " bytes, " << got.substr(0, 100);
}

}  // namespace
}  // namespace tracewell::server
