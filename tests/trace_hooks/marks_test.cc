// Marks of what others, or a limited log, may make happen without end.
#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "hooks/log/log_use.h"
#include "hooks/session/collector.h"
#include "hooks/session/collector_marks.h"
#include "hooks/session/session_log.h"
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

// The session's end may be a sudden one: then most of what found no ring has been told.
TEST(HooksMarks, HooksInNoRingAreToldWhileASessionRuns) {
  constexpr int64_t kSecond = 1'000'000'000;
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  const auto told = [&] {
    std::vector<uint64_t> out;
    for (const std::string& mark : read_log(world.log()).marks)
      if (mark.ends_with(" records lost: their threads could not make a ring"))
        out.push_back(std::stoull(mark));
    return out;
  };
  {
    const auto folder = open_own_log(world.log());
    ASSERT_TRUE(folder.ok());
    CollectorMarks marks(world.control().channel(0), *folder);
    const auto look = [&](int64_t seconds, uint64_t records) {
      marks.without_ring(records, seconds * kSecond);
    };
    look(100, 0);
    look(200, 3);  // those that are lost together are told together
    look(204, 7);
    EXPECT_EQ(told(), std::vector<uint64_t>{});
    look(205, 7);
    EXPECT_EQ(told(), std::vector<uint64_t>{7});
    look(300, 7);
    look(301, 10);
    look(310, 10);
    EXPECT_EQ(told(), std::vector<uint64_t>{7});
    look(311, 11);
    EXPECT_EQ(told(), (std::vector<uint64_t>{7, 4}));
    // A day of them: one mark a minute.
    for (int64_t second = 1000; second < 87'400; ++second)
      look(second, static_cast<uint64_t>(second));
  }
  EXPECT_LT(told().size(), 1450u);
  {
    // Another collector goes on from what the log tells.
    const auto folder = open_own_log(world.log());
    CollectorMarks marks(world.control().channel(0), *folder);
    marks.without_ring(87'399, kSecond);
    marks.without_ring(87'399, 100 * kSecond);
  }
  uint64_t sum = 0;
  for (const uint64_t one : told()) sum += one;
  EXPECT_EQ(sum, 87'399u);
  // And so does whoever ends the session.
  world.control().set_failures(0, 100'000);
  world.stop();
  EXPECT_EQ(told().back(), 100'000 - sum);
}

/// `killed`: the collector does not tell the last of them.
void drop_again_and_again(bool killed) {
  constexpr uint64_t kPackets = 10'000;
  World world;
  SessionOptions options = world.options(Buffering::Single, 64 << 10);
  options.log_bytes = 64 << 10;
  world.start(options);
  {
    const auto folder = open_own_log(world.log());
    ASSERT_TRUE(folder.ok());
    auto log = open_log(world.control(), 0, *folder);
    ASSERT_TRUE(log.ok());
    CollectorMarks marks(world.control().channel(0), *folder);
    tracewell_packet head{};
    head.magic = TRACEWELL_PACKET_MAGIC;
    head.stream_id = TRACEWELL_PACKET_STREAM;
    head.stream = head.identity[1] = 7;
    std::ranges::copy(world.control().channel(0).uuid, head.uuid);
    head.state = TRACEWELL_PACKET_WHOLE;
    head.records = 1;
    const std::vector<uint8_t> records(4000);
    head.packet_bits = head.content_bits = (sizeof head + records.size()) * 8;
    for (head.number = 0; head.number < kPackets; ++head.number) {
      ASSERT_TRUE(log->append(head, records).ok());
      ASSERT_TRUE(marks.dropped(*log).ok());
    }
    if (!killed) {
      ASSERT_TRUE(marks.tell_rest(*log).ok());
    }
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
TEST(HooksMarks, LimitedLogThatDropsAgainAndAgain) { drop_again_and_again(false); }
TEST(HooksMarks, LimitedLogWhoseCollectorIsKilled) { drop_again_and_again(true); }

/// A ring whose packets come again and again with a number that the log has, as if an earlier
/// process had had its id: no record goes untold, and the log does not grow with each.
TEST(HooksMarks, PacketsOfAnEarlierProcessAgainAndAgain) {
  constexpr uint64_t kTimes = 3000;
  World world;
  world.start(world.options(Buffering::Alternate, 64 << 10));
  const pid_t program = World::run("hook_lives", {"pauses"});
  int status = 0;
  for (int stops = 0; stops < 2; ++stops) {
    ASSERT_EQ(waitpid(program, &status, WUNTRACED), program);
    ASSERT_TRUE(WIFSTOPPED(status));
    if (stops == 0) kill(program, SIGCONT);
  }
  const std::string path = fs::directory_iterator(world.log() + "/.rings")->path().string();
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const size_t bytes = fs::file_size(path);
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(at, MAP_FAILED);
  auto& ring = *static_cast<tracewell_ring*>(at);
  auto& packet = *reinterpret_cast<tracewell_packet*>(static_cast<uint8_t*>(at) +
                                                      TRACEWELL_HOOK_PAGE);
  const auto began = std::chrono::steady_clock::now();
  {
    const auto folder = open_own_log(world.log());
    ASSERT_TRUE(folder.ok());
    auto log = LogFolder::open(*folder, {});
    ASSERT_TRUE(log.ok());
    Collector collector(*folder, *log, world.session());
    ASSERT_TRUE(collector.collect().ok());
    for (uint64_t i = 0; i < kTimes; ++i) {
      packet.ticks_begin = packet.ticks_end = now().ticks;
      ring.taken[0] = 0;
      ASSERT_TRUE(collector.collect().ok());
    }
    ASSERT_TRUE(collector.leave().ok());
  }
  kill(program, SIGKILL);
  World::wait_for(program);
  const auto passed = std::chrono::steady_clock::now() - began;
  const uint64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
  const uint64_t told = kTimes * packet.records;
  munmap(at, bytes);
  world.stop();
  const LogStory story = read_log(world.log());
  const auto marks = std::ranges::count_if(story.marks, [](const std::string& mark) {
    return mark.ends_with("had the id of an earlier one");
  });
  EXPECT_GE(marks, 1);
  EXPECT_LE(static_cast<uint64_t>(marks), seconds + 3);  // the first, one a second, the last
  uint64_t records = 0;
  for (const std::string& mark : story.marks)
    if (mark.ends_with("had the id of an earlier one")) records += std::stoull(mark);
  EXPECT_EQ(records, told);
  EXPECT_EQ(story.problems, std::vector<std::string>{});
}

/// Readers take a packet that has the number of another for the same: each is one of its own.
TEST(HooksMarks, ThatSeveralMakeAtTheSameTime) {
  constexpr int kWriters = 4, kMarks = 100;
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  const Uuid session = world.session();
  const auto folder = Folder::named(world.log());
  ASSERT_TRUE(folder.ok());
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.push_back(fork());
    if (writers.back() != 0) continue;
    MarksSeen seen;
    bool all = true;
    for (int i = 0; i < kMarks; ++i)
      all &= add_mark(*folder, session, fmt::format("{} of {}", i, writer), now().ticks,
                      writer % 2 == 0 ? &seen : nullptr).ok();
    _exit(all ? 0 : 1);
  }
  for (const pid_t writer : writers) EXPECT_EQ(World::wait_for(writer), 0);
  world.stop();
  const LogStory story = read_log(world.log());
  EXPECT_EQ(story.marks.size(), 2u + kWriters * kMarks);
  EXPECT_EQ(story.problems, std::vector<std::string>{});
  std::string out;
  EXPECT_EQ(World::shell("babeltrace2 '" + world.log() + "' 2>&1 >/dev/null", out), 0) << out;
}

}  // namespace
}  // namespace tracewell::hooks::test
