#include "cli/print_queue.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

namespace tracewell::cli {
namespace {

/// Both ends of a pipe or a pair of sockets, and nothing tells the queue to quit.
class PrintQueues : public testing::TestWithParam<bool> {
 protected:
  PrintQueues() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(GetParam() ? pipe2(ends, O_CLOEXEC) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    reads_ = UniqueFd(ends[0]);
    writes_ = UniqueFd(ends[1]);
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
  static std::string line(size_t number) { return std::to_string(100'000 + number) + "\n"; }

  UniqueFd reads_, writes_, quit_, quits_;
};

TEST_P(PrintQueues, WhatIsReadIsWrittenAtOnce) {
  PrintQueue queue(writes_.get(), quit_.get());
  for (const char* text : {"one\n", "two\n"}) {
    queue.print(text);
    EXPECT_EQ(read(4), text);
  }
  EXPECT_EQ(queue.finish(0, 0), 0U);
}

TEST_P(PrintQueues, WhatNobodyReadsHoldsNobodyAndIsCounted) {
  constexpr size_t kLines = 1'000'000;  // 7 bytes each
  PrintQueue queue(writes_.get(), quit_.get());
  for (size_t i = 0; i < kLines; ++i) queue.print(line(i));
  const uint64_t unread = queue.finish(0, 0);
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
  EXPECT_EQ(queue.finish(0, 0), 0U);
}

/// Nothing but the reader does anything.
TEST_P(PrintQueues, WhatWaitsGoesOutByItself) {
  PrintQueue queue(writes_.get(), quit_.get());
  std::string all;
  for (size_t i = 0; i < 40; ++i) {
    all += std::string(20'000, static_cast<char>('A' + i)) + "\n";
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
  using Clock = std::chrono::steady_clock;
  const std::string text(1 << 16, 'x');
  PrintQueue queue(writes_.get(), quit_.get());
  for (size_t i = 0; i < 15; ++i) queue.print(text);
  const auto begin = Clock::now();
  EXPECT_GT(queue.finish(50, 60'000), 0U);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30)) << "nobody reads";
  ASSERT_EQ(write(quits_.get(), "q", 1), 1);
  EXPECT_GT(queue.finish(60'000, 60'000), 0U);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30)) << "it is to end";
}

TEST_P(PrintQueues, NobodyCanReadAnyMore) {
  PrintQueue queue(writes_.get(), quit_.get());
  signal(SIGPIPE, SIG_IGN);
  for (size_t i = 0; i < 15; ++i) queue.print(std::string(1 << 16, 'x'));
  reads_ = {};
  queue.print("more\n");
  EXPECT_EQ(queue.finish(60'000, 60'000), 0U);
  signal(SIGPIPE, SIG_DFL);
}

/// Not by us: the descriptor is the program's, too.
TEST_P(PrintQueues, TheDescriptorBlocksAsBefore) {
  const PrintQueue queue(writes_.get(), quit_.get());
  EXPECT_EQ(fcntl(writes_.get(), F_GETFL) & O_NONBLOCK, 0);
}

INSTANTIATE_TEST_SUITE_P(PipeAndSocket, PrintQueues, testing::Bool());

}  // namespace
}  // namespace tracewell::cli
