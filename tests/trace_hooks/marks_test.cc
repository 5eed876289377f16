// Marks of what others, or a limited log, may make happen without end.
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "hooks/collector_marks.h"
#include "hooks/log_use.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

namespace fs = std::filesystem;

/// Each is told by itself, or with others: how often the marks say, and how many marks that are.
struct Told {
  uint64_t times = 0, marks = 0;
  std::string last;
};

Told moves_in(const std::vector<std::string>& marks) {
  constexpr std::string_view kBegin = "LOG MOVED ";
  Told out;
  for (const std::string& mark : marks) {
    if (!mark.starts_with(kBegin)) continue;
    ++out.marks;
    out.times += mark.starts_with("LOG MOVED from ") ? 1 : std::stoull(mark.substr(kBegin.size()));
    out.last = mark;
  }
  return out;
}

TEST(HooksMarks, LogThatIsMovedAgainAndAgain) {
  constexpr uint64_t kMoves = 40;
  World world;
  world.start(world.options(Buffering::Alternate, 64 << 10));
  const pid_t collector = world.start_collector();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const std::string names[] = {world.log(), world.log() + "-1"};
  for (uint64_t i = 0; i < kMoves; ++i) {
    fs::rename(names[i % 2], names[1 - i % 2]);
    while (log_path_of(world.control(), 0) != names[1 - i % 2]) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "it was not followed";
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  world.stop();
  World::wait_for(collector);
  const Told told = moves_in(read_log(world.log()).marks);
  EXPECT_EQ(told.times, kMoves);
  EXPECT_EQ(told.marks, 16u + 1 + 1);  // each of 16; up to 32; what was left at the end
  EXPECT_EQ(told.last, fmt::format("LOG MOVED 8 times, from {} to {}", names[0], names[0]));
}

TEST(HooksMarks, LimitedLogThatDropsAgainAndAgain) {
  constexpr uint64_t kPackets = 10'000;
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  {
    const auto folder = open_own_log(world.log());
    ASSERT_TRUE(folder.ok());
    auto log = LogFolder::open(*folder, {64 << 10, false, false});
    ASSERT_TRUE(log.ok());
    CollectorMarks marks(world.control().channel(0), *folder);
    tracewell_packet head{};
    head.magic = TRACEWELL_PACKET_MAGIC;
    head.stream_id = TRACEWELL_PACKET_STREAM;
    head.stream = head.identity[1] = 7;
    head.state = TRACEWELL_PACKET_WHOLE;
    head.records = 1;
    const std::vector<uint8_t> records(4000);
    head.packet_bits = head.content_bits = (sizeof head + records.size()) * 8;
    for (head.number = 0; head.number < kPackets; ++head.number) {
      ASSERT_TRUE(log->append(head, records).ok());
      ASSERT_TRUE(marks.dropped(*log).ok());
    }
    ASSERT_TRUE(marks.tell_rest(*log).ok());
  }
  uint64_t kept = 0;
  for (const auto& one : fs::directory_iterator(world.log()))
    if (one.path().filename().string().starts_with("0-0-7.")) ++kept;
  EXPECT_LT(fs::file_size(world.log() + "/0-0.0"), 20u << 10);
  world.stop();
  uint64_t dropped = 0;
  for (const std::string& mark : read_log(world.log()).marks)
    if (mark.starts_with("LOGFILE WRAPAROUND, ")) dropped += std::stoull(mark.substr(20));
  EXPECT_GT(kept, 0u);
  EXPECT_EQ(dropped, kPackets - kept);
}

}  // namespace
}  // namespace tracewell::hooks::test
