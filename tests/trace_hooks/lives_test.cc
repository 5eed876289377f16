// Processes that fork, threads that end, handlers in the middle of hooks: whose record is where.
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "hooks/log/log_use.h"
#include "hooks/rings/dead_rings.h"
#include "hooks/rings/ring_file.h"
#include "hooks/session/collector.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

/// How often each number was seen, and by whom.
struct Seen {
  std::map<uint64_t, uint64_t> times;
  std::map<uint64_t, std::vector<uint64_t>> threads;
  uint64_t rings = 0;
};

class HookLives : public testing::Test {
 protected:
  Seen run(const std::string& what, Buffering buffering = Buffering::Single,
           uint64_t bytes = 64 << 10, uint64_t log_bytes = 0) {
    SessionOptions options = world_.options(buffering, bytes);
    options.log_bytes = log_bytes;
    world_.start(options);
    EXPECT_EQ(World::wait_for(World::run("hook_lives", {what})), 0);
    Seen seen;
    for (const auto& entry : std::filesystem::directory_iterator(world_.log() + "/.rings"))
      seen.rings += entry.is_regular_file();
    world_.stop();
    story_ = read_log(world_.log());
    EXPECT_TRUE(story_.problems.empty());
    EXPECT_TRUE(story_.times_ascend);
    for (const auto& [tid, thread] : story_.threads)
      for (const uint64_t who : thread.numbers) {
        ++seen.times[who];
        if (std::ranges::count(seen.threads[who], tid) == 0) seen.threads[who].push_back(tid);
      }
    return seen;
  }

  World world_;
  LogStory story_;
};

TEST_F(HookLives, ForkedChildHasARingOfItsOwn) {
  const Seen seen = run("fork");
  EXPECT_EQ(seen.times, (std::map<uint64_t, uint64_t>{{1, 20}, {2, 10}}));
  EXPECT_EQ(seen.rings, 2u);
  EXPECT_NE(seen.threads.at(1), seen.threads.at(2));
}

TEST_F(HookLives, ClonedChildToo) {
  const Seen seen = run("clone");
  EXPECT_EQ(seen.times, (std::map<uint64_t, uint64_t>{{1, 20}, {2, 10}}));
  EXPECT_EQ(seen.rings, 2u);
}

TEST_F(HookLives, VforkedChildIsInItsParentsRing) {
  const Seen seen = run("vfork", Buffering::Single, 1 << 20);
  EXPECT_EQ(seen.times, (std::map<uint64_t, uint64_t>{{1, 20}, {2, 10}, {4, 3000}}));
  EXPECT_EQ(story_.lost, 0u);
}

TEST_F(HookLives, VforkedChildWhoseParentHasNoRing) {
  const Seen seen = run("vfork-first", Buffering::Single, 1 << 20);
  EXPECT_EQ(seen.times, (std::map<uint64_t, uint64_t>{{1, 10}, {4, 3000}, {5, 10}}));
  EXPECT_EQ(std::ranges::count(story_.marks,
                               "10 records lost: their threads could not make a ring"),
            1);
}

TEST_F(HookLives, HandlersInHandlers) {
  for (const Buffering buffering : {Buffering::Single, Buffering::Circular}) {
    const Seen seen = run("nested", buffering, 4 << 20);
    std::map<uint64_t, uint64_t> wanted{{0, 100}};
    for (uint64_t depth = 1; depth <= 8; ++depth) wanted[depth] = 2000;
    EXPECT_EQ(seen.times, wanted);
    EXPECT_EQ(story_.lost, 0u);
  }
}

TEST_F(HookLives, LogThatACollectorWasKilledOver) {
  world_.start(world_.options(Buffering::Alternate, 64 << 10));
  EXPECT_EQ(World::wait_for(World::run("hook_hammer", {world_.counts_path(), "1", "100", "0"})), 0);
  const std::string ring =
      std::filesystem::directory_iterator(world_.log() + "/.rings")->path().filename().string();
  std::string bytes;
  {
    std::ifstream file(world_.log() + "/.rings/" + ring, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  for (const size_t size : {1, 3, 4, 84, 103, 104, 200}) {
    std::ofstream(world_.log() + "/" + ring + ".0", std::ios::binary)
        << bytes.substr(TRACEWELL_HOOK_PAGE, size);
    const LogStory story = read_log(world_.log());
    EXPECT_TRUE(story.problems.empty()) << size << ": " << story.problems[0];
    EXPECT_EQ(story.events, 100u + 2) << size;
  }
  world_.stop();
  EXPECT_EQ(read_log(world_.log()).events, 100u + 3);
  // Without rings, it is damage.
  std::ofstream(world_.log() + "/" + ring + ".1", std::ios::binary)
      << bytes.substr(TRACEWELL_HOOK_PAGE, 84);
  EXPECT_EQ(read_log(world_.log()).problems,
            std::vector<std::string>{ring + ".1: 84 bytes are no packet"});
}

TEST_F(HookLives, PacketThatIsOpenIsNotTakenForClosed) {
  world_.start(world_.options(Buffering::Alternate, 64 << 10));
  EXPECT_EQ(World::wait_for(World::run("hook_hammer", {world_.counts_path(), "1", "100", "0"})), 0);
  const auto file = *std::filesystem::directory_iterator(world_.log() + "/.rings");
  const auto rings = Folder::named(world_.log() + "/.rings");
  ASSERT_TRUE(rings.ok());
  const auto ring = RingFile::open(*rings, file.path().filename().string());
  ASSERT_TRUE(ring.ok());
  std::vector<RingFile::Waiting> waiting = (*ring)->waiting();
  ASSERT_EQ(waiting.size(), 1u);
  std::vector<uint8_t> bytes;
  EXPECT_FALSE((*ring)->copy(waiting[0], false, bytes).changed);
  // The state of the packet that was in its slot before.
  waiting[0].state = TRACEWELL_PACKET_WHOLE;
  EXPECT_TRUE((*ring)->copy(waiting[0], false, bytes).changed);
  world_.stop();
}

/// The thread may have begun and closed packets in slots that were looked at already.
TEST_F(HookLives, PacketThatWasOverlookedIsTakenTheNextTime) {
  world_.start(world_.options(Buffering::Alternate, 256 << 10));
  EXPECT_EQ(World::wait_for(World::run("hook_hammer", {world_.counts_path(), "1", "1500", "0"})),
            0);
  const auto file = *std::filesystem::directory_iterator(world_.log() + "/.rings");
  std::fstream ring(file.path(), std::ios::in | std::ios::out | std::ios::binary);
  const auto set_state = [&](uint32_t packet_bytes, uint32_t state) {
    ring.seekp(TRACEWELL_HOOK_PAGE + 1 * packet_bytes + offsetof(tracewell_packet, state));
    ring.write(reinterpret_cast<const char*>(&state), sizeof state);
    ring.flush();
  };
  const uint32_t packet_bytes = world_.control().channel(0).packet_bytes;
  {
    const auto folder = open_own_log(world_.log());
    ASSERT_TRUE(folder.ok());
    auto log = LogFolder::open(*folder, {});
    ASSERT_TRUE(log.ok());
    Collector collector(*folder, *log, world_.session());
    set_state(packet_bytes, 0);
    EXPECT_EQ(*collector.collect(), 1u);
    set_state(packet_bytes, TRACEWELL_PACKET_WHOLE);
    EXPECT_GE(*collector.collect(), 2u);
  }
  world_.stop();
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(story.events, 1500u + 3);
  EXPECT_EQ(story.lost, 0u);
}

TEST_F(HookLives, LogsThatAreNotReplaced) {
  const auto refused = [&](const std::string& log, const std::string& why) {
    SessionOptions options = world_.options(Buffering::Single, 64 << 10);
    options.log = log;
    const Status status = start_session(world_.control(), options);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().text().find(why), std::string::npos) << status.error().text();
  };
  world_.start(world_.options(Buffering::Single, 64 << 10));
  world_.stop();
  const std::string link = world_.log() + "-link";
  std::filesystem::create_directory_symlink(world_.log(), link);
  refused(link, "is a symbolic link");
  std::filesystem::create_symlink("nowhere", link + "-broken");
  refused(link + "-broken", "is a symbolic link");
  const std::string other = world_.log() + "-other";
  std::filesystem::create_directory(other);
  std::ofstream(other + "/metadata") << "/* CTF 1.8 */ of somebody else";
  refused(other, "is no log of trace hooks");
  EXPECT_TRUE(std::filesystem::exists(other + "/metadata"));
  std::ofstream(world_.log() + "-file") << "text";
  refused(world_.log() + "-file", "is no log of trace hooks");
  EXPECT_EQ(read_log(world_.log()).events, 2u);

  std::filesystem::create_directory(world_.log() + "/.rings");
  std::ofstream(world_.log() + "/.rings/1-1") << "not collected";
  refused(world_.log(), "1-1 is no ring of trace hooks, and would go");
  std::filesystem::remove_all(world_.log() + "/.rings");

  world_.start(world_.options(Buffering::Single, 64 << 10));
  SessionOptions second = world_.options(Buffering::Single, 64 << 10);
  second.channel = 1;
  EXPECT_FALSE(start_session(world_.control(), second).ok());
  world_.stop();
  if (geteuid() == 0) {
    std::filesystem::create_directory(world_.log() + "-open");
    chmod((world_.log() + "-open").c_str(), 0777);
    refused(world_.log() + "-open/log", "others may write to");
  }
}

/// A session that has no collector, of another control file.
TEST_F(HookLives, LogOfASessionSomewhereElseIsNotReplaced) {
  world_.start(world_.options(Buffering::Circular, 64 << 10));
  World other;
  SessionOptions options = other.options(Buffering::Circular, 64 << 10);
  for (const bool keep_old : {false, true}) {
    options.log = world_.log();
    options.keep_old_log = keep_old;
    const Status status = start_session(other.control(), options);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().text().find("is the log of a trace that runs: trcstop -0 ends it"),
              std::string::npos)
        << status.error().text();
    EXPECT_NE(status.error().text().find(world_.control().path()), std::string::npos);
    EXPECT_TRUE(active_channels(other.control()).empty());
  }
  world_.stop();
  EXPECT_EQ(read_log(world_.log()).marks.size(), 2u);  // it went on, and off
  other.start(options);
  EXPECT_FALSE(stop_session(world_.control(), 0).ok());
  other.stop();
  // It was never stopped, and its control file is gone.
  world_.start(world_.options(Buffering::Circular, 64 << 10));
  std::filesystem::remove(world_.control().path());
  options.keep_old_log = false;
  other.start(options);
  other.stop();
}

TEST_F(HookLives, ThreadsThatEndLeaveTheirRingToOthers) {
  const Seen seen = run("threads", Buffering::Circular, 1 << 20);
  EXPECT_EQ(seen.rings, 1u);
  const uint32_t packets = world_.control().channel(0).slots;
  EXPECT_EQ(story_.lost, (200 - packets) * 10);  // each thread has a packet
  EXPECT_EQ(seen.times.size(), packets);
  for (const auto& [who, times] : seen.times) EXPECT_EQ(times, 10u) << who;
}

/// A single buffer keeps what is oldest of each thread: also of those that come when the ring of
/// one that ended is full, and of those that fill what it left.
TEST_F(HookLives, ThreadsThatTakeOverAFullRingGetOneOfTheirOwn) {
  const Seen seen = run("threads", Buffering::Single, 64 << 10);
  EXPECT_EQ(seen.times.size(), 200u);
  for (const auto& [who, times] : seen.times) EXPECT_EQ(times, 10u) << who;
  EXPECT_EQ(story_.lost, 0u);
  EXPECT_EQ(seen.rings, 200u / world_.control().channel(0).slots);

  const Seen heir = run("heir", Buffering::Single, 64 << 10);
  EXPECT_EQ(heir.times, (std::map<uint64_t, uint64_t>{{0, 10}, {1, 2200}}));
  EXPECT_EQ(story_.lost, 0u);
  EXPECT_EQ(heir.rings, 2u);
}

/// What fills the ring that it took over, and can have no other one, loses hooks and nothing else.
TEST_F(HookLives, AThreadThatCanHaveNoOtherRingGoesOn) {
  const Seen seen = run("poor-heir", Buffering::Single, 64 << 10);
  EXPECT_EQ(seen.rings, 1u);
  EXPECT_EQ(seen.times.at(0), 10u);
  EXPECT_LT(seen.times.at(1), 2200u);
  EXPECT_EQ(seen.times.at(1) + story_.lost, 2200u);
}

/// No more rings than the log may hold; and there, those that come when one is full have no packet
/// of their own.
TEST_F(HookLives, ThreadsThatTakeOverAFullRingAreCounted) {
  const Seen seen = run("threads", Buffering::Single, 64 << 10, 128 << 10);
  EXPECT_EQ(seen.rings, 2u);
  uint64_t kept = 0;
  for (const auto& [who, times] : seen.times) kept += times;
  EXPECT_LT(kept, 2000u);
  EXPECT_EQ(kept + story_.lost, 2000u);
}

TEST_F(HookLives, LogThatAnotherSessionMadeAnewIsLeftAlone) {
  for (const Buffering buffering : {Buffering::Circular, Buffering::Alternate}) {
    World gone, other;
    gone.start(gone.options(buffering, 64 << 10));
    std::filesystem::remove_all(gone.log());
    SessionOptions options = other.options(Buffering::Circular, 64 << 10);
    options.log = gone.log();
    other.start(options);
    const Status status = stop_session(gone.control(), 0);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().text().find("was removed while the trace ran into it"),
              std::string::npos)
        << status.error().text();
    EXPECT_TRUE(std::filesystem::exists(gone.log() + "/.rings"));
    other.stop();
    EXPECT_EQ(read_log(gone.log()).marks.size(), 2u);
  }
}

/// Its programs do not know, but look whose log it is before they make a ring there.
TEST_F(HookLives, ProgramsOfAnotherSessionStayOutOfALog) {
  for (const Buffering buffering : {Buffering::Circular, Buffering::Alternate}) {
    World gone, other;
    gone.start(gone.options(buffering, 64 << 10));
    std::filesystem::remove_all(gone.log());
    SessionOptions options = other.options(buffering, 64 << 10);
    options.log = gone.log();
    other.start(options);
    const pid_t collector = buffering == Buffering::Alternate ? other.start_collector() : 0;
    const auto fire = [](World& world, const char* hooks) {
      world.choose();
      EXPECT_EQ(World::wait_for(World::run("hook_hammer", {world.counts_path(), "1", hooks, "0"})),
                0);
    };
    fire(gone, "5000");
    EXPECT_EQ(gone.control().failures(0), 5000u);
    EXPECT_TRUE(std::filesystem::is_empty(gone.log() + "/.rings"));
    fire(other, "100");
    const Status status = stop_session(gone.control(), 0);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().text().find("5000 records lost"), std::string::npos)
        << status.error().text();
    other.stop();
    if (collector != 0) World::wait_for(collector);
    const LogStory story = read_log(gone.log());
    EXPECT_EQ(story.hooks, 100u);
    EXPECT_EQ(story.problems, std::vector<std::string>{});
  }
}

/// Programs of releases before did not look.
TEST_F(HookLives, RingsOfAnotherSessionStayAndAreTold) {
  World other;
  for (World* one : {&other, &world_}) {
    one->choose();
    one->start(one->options(Buffering::Circular, 64 << 10));
    EXPECT_EQ(World::wait_for(World::run("hook_hammer", {one->counts_path(), "1", "100", "0"})), 0);
  }
  const auto ring = std::filesystem::directory_iterator(other.log() + "/.rings")->path();
  const std::string there = world_.log() + "/.rings/" + ring.filename().string();
  std::filesystem::rename(ring, there);
  EXPECT_EQ(read_log(world_.log()).problems,
            std::vector<std::string>{fmt::format(
                "rings of another session in {}/.rings: 1; they are not shown", world_.log())});
  world_.stop();
  EXPECT_TRUE(std::filesystem::exists(there));
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(story.hooks, 100u);
  EXPECT_EQ(std::ranges::count(story.marks,
                               "0 records lost: 1 buffers in .rings say that they are of other "
                               "traces: `trcdead -o OTHER_LOG` takes each of them"),
            1);
}

TEST_F(HookLives, ThreadsThatBeginTogether) {
  constexpr uint64_t kRuns = 300;
  world_.start(world_.options(Buffering::Single, 64 << 10));
  for (uint64_t i = 0; i < kRuns; ++i)
    ASSERT_EQ(World::wait_for(World::run("hook_hammer", {world_.counts_path(), "2", "1", "0"})), 0);
  world_.stop();
  EXPECT_EQ(read_log(world_.log()).threads.size(), kRuns * 2 + 1);  // and that of the marks
}

TEST_F(HookLives, HandlerThatFillsTheRing) {
  for (const Buffering buffering : {Buffering::Single, Buffering::Circular}) {
    const Seen seen = run("handler", buffering);
    uint64_t all = story_.lost;
    for (const auto& [who, times] : seen.times) all += times;
    EXPECT_EQ(all, 5002u);
    EXPECT_GT(story_.lost, 0u);
    EXPECT_EQ(seen.times.contains(2), buffering == Buffering::Circular);
  }
}

TEST_F(HookLives, HandlerThatJumpsOut) {
  const Seen seen = run("jump");
  EXPECT_EQ(seen.times, (std::map<uint64_t, uint64_t>{{2, 1}, {3, 100}}));
  EXPECT_EQ(story_.lost, 0u);
}

TEST_F(HookLives, NextProgramOfTheSameProcess) {
  const Seen seen = run("exec", Buffering::Single, 1 << 20);
  EXPECT_EQ(seen.times, (std::map<uint64_t, uint64_t>{{1, 3}, {4, 3000}}));
  EXPECT_EQ(seen.rings, 2u);
}

TEST_F(HookLives, RingsFolderThatIsGoneIsCounted) {
  world_.start(world_.options(Buffering::Single, 64 << 10));
  std::filesystem::remove_all(world_.log() + "/.rings");
  EXPECT_EQ(World::wait_for(World::run("hook_lives", {"errno"})), 0);
  std::filesystem::create_directory(world_.log() + "/.rings");
  world_.stop();
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(std::ranges::count(story.marks,
                               "3000 records lost: their threads could not make a ring"),
            1);
}

TEST_F(HookLives, LogThatIsGoneEndsItsSession) {
  world_.start(world_.options(Buffering::Alternate, 64 << 10));
  const pid_t collector = world_.start_collector();
  std::filesystem::remove_all(world_.log());
  EXPECT_FALSE(stop_session(world_.control(), 0).ok());
  World::wait_for(collector);
  EXPECT_TRUE(active_channels(world_.control()).empty());
  world_.start(world_.options(Buffering::Single, 64 << 10));
  world_.stop();
}

/// Of those who write to a log without being its session's, nobody says how long that takes.
TEST_F(HookLives, LogThatIsLockedIsNotWaitedForWithoutEnd) {
  world_.start(world_.options(Buffering::Single, 64 << 10));
  EXPECT_EQ(World::wait_for(World::run("hook_hammer", {world_.counts_path(), "1", "100", "0"})), 0);
  world_.control().set_failures(0, 7);
  {
    const auto folder = open_own_log(world_.log());
    ASSERT_TRUE(folder.ok());
    const auto held = open_log_lock(*folder);
    ASSERT_TRUE(held.ok() && lock_file(held->get()).ok());
    const Status status = stop_session(world_.control(), 0);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().text().find("somebody writes to its log"), std::string::npos)
        << status.error().text();
    EXPECT_TRUE(active_channels(world_.control()).empty());
  }
  const auto rings = find_dead_rings(world_.log());
  ASSERT_TRUE(rings.ok());
  EXPECT_TRUE(collect_dead_rings(rings->rings, world_.log(), "test").ok());
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(story.hooks, 100u);
  EXPECT_EQ(std::ranges::count(story.marks, "7 records lost: their threads could not make a ring"),
            1);
}

/// Whoever gives up leaves the session to somebody else.
TEST_F(HookLives, WaitsThatAreGivenUp) {
  world_.start(world_.options(Buffering::Alternate, 64 << 10));
  const pid_t collector = world_.start_collector();
  EXPECT_EQ(World::wait_for(World::run("hook_hammer", {world_.counts_path(), "1", "100", "0"})), 0);
  kill(collector, SIGSTOP);
  int stopped = 0;
  ASSERT_EQ(waitpid(collector, &stopped, WUNTRACED), collector);
  int asked = 0;
  const auto third_time = [&] { return ++asked == 3; };
  EXPECT_FALSE(stop_session(world_.control(), 0, Rest::Kept, third_time).ok());
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(active_channels(world_.control()).size(), 1u);
  {
    const auto other = world_.control().lock();
    ASSERT_TRUE(other.ok());
    asked = 0;
    EXPECT_FALSE(stop_session(world_.control(), 0, Rest::Kept, third_time).ok());
    EXPECT_EQ(asked, 3);
  }
  kill(collector, SIGCONT);
  const Status status = stop_session(world_.control(), 0, Rest::Kept, [] { return false; });
  EXPECT_TRUE(status.ok()) << status.error().text();
  World::wait_for(collector);
  EXPECT_EQ(read_log(world_.log()).hooks, 100u);
}

TEST_F(HookLives, LimitedLogDropsItsOldest) {
  SessionOptions options = world_.options(Buffering::Single, 16 << 20);
  options.log_bytes = 512 << 10;
  world_.start(options);
  EXPECT_EQ(World::wait_for(World::run("hook_hammer", {world_.counts_path(), "2", "50000", "0"})),
            0);
  world_.stop();
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(world_.log()))
    if (entry.path().filename() != "metadata" && entry.path().filename() != "0-0.0")
      bytes += entry.file_size();
  EXPECT_LE(bytes, options.log_bytes);
  const LogStory story = read_log(world_.log());
  uint64_t dropped = 0;
  uint64_t seen = 0;
  for (const std::string& mark : story.marks)
    if (mark.starts_with("LOGFILE WRAPAROUND, ")) dropped += std::stoull(mark.substr(20));
  for (const auto& [tid, thread] : story.threads) {
    seen += thread.numbers.size();
    EXPECT_TRUE(std::ranges::is_sorted(thread.numbers));
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_GT(seen, 0u);
  EXPECT_EQ(seen + dropped, 100'000u);
}

}  // namespace
}  // namespace tracewell::hooks::test
