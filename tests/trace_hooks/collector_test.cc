// How packets get from rings to a log.
#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <iterator>
#include <map>
#include <thread>

#include "formats/hooklog/metadata.h"
#include "hooks/rings/dead_rings.h"
#include "hooks/rings/ring_file.h"
#include "hooks/session/collector.h"
#include "hooks/session/collector_sleep.h"
#include "ring/hook_packet.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

void fire(World& world, const std::string& hooks) {
  EXPECT_EQ(World::wait_for(World::run("hook_hammer", {world.counts_path(), "1", hooks, "0"})), 0);
}

/// Is a thread of ours waiting in the kernel?
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end + 2, 1) == "S";
}

TEST(HooksCollector, HalfARingWakesIt) {
  World world;
  world.start(world.options(Buffering::Alternate, 64 << 10));
  uint32_t& word = world.control().channel(0).collector;
  std::atomic_ref(word).store(1);
  std::atomic<pid_t> thread = 0;
  std::atomic<bool> woken = false;
  std::thread sleeper([&] {
    thread = static_cast<pid_t>(syscall(SYS_gettid));
    EXPECT_EQ(syscall(SYS_futex, &word, FUTEX_WAIT, 1, nullptr, nullptr, 0), 0);
    woken = true;
  });
  while (thread == 0 || !sleeps(thread)) usleep(100);
  fire(world, "100");  // less than a packet
  EXPECT_FALSE(woken);
  EXPECT_TRUE(sleeps(thread));
  fire(world, "1000");
  sleeper.join();
  world.stop();
  EXPECT_EQ(read_log(world.log()).lost, 0u);
}

TEST(HooksCollector, ASleepThatIsBegunEnds) {
  tracewell_channel channel{};
  CollectorSleep sleep(channel);
  sleep.found_nothing();
  EXPECT_EQ(channel.collector, 1u);
  wake_collector(channel);
  sleep.found_nothing();  // says so anew
  EXPECT_EQ(channel.collector, 1u);
  sleep.found_nothing();
  EXPECT_EQ(channel.collector, 0u);
}

/// Before its number can be another one's: while nobody has waited for it yet.
TEST(HooksCollector, RingsOfAnEndedProcessGoAtOnce) {
  World world;
  world.start(world.options(Buffering::Alternate, 64 << 10));
  const pid_t program = World::run("hook_lives", {"pauses"});
  {
    const auto folder = open_own_log(world.log());
    auto log = LogFolder::open(*folder, {});
    ASSERT_TRUE(log.ok());
    Collector collector(*folder, *log, world.session());
    int status = 0;
    ASSERT_EQ(waitpid(program, &status, WUNTRACED), program);
    ASSERT_TRUE(collector.collect().ok());
    EXPECT_FALSE(std::filesystem::is_empty(world.log() + "/.rings"));
    kill(program, SIGKILL);
    siginfo_t ended{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(program), &ended, WEXITED | WNOWAIT), 0);
    ASSERT_TRUE(collector.collect().ok());
    EXPECT_TRUE(std::filesystem::is_empty(world.log() + "/.rings"));
  }
  waitpid(program, nullptr, 0);
  world.stop();
  EXPECT_GT(read_log(world.log()).hooks, 0u);
}

/// However large the ring is: those few stay in the caches.
TEST(HooksCollector, PacketsThatWereTakenAreTheNextToBeFilled) {
  World world;
  world.start(world.options(Buffering::Alternate, 64 << 10));
  const pid_t program = World::run("hook_lives", {"pauses"});
  uint64_t taken = 0;
  {
    const auto folder = open_own_log(world.log());
    ASSERT_TRUE(folder.ok());
    auto log = LogFolder::open(*folder, {});
    ASSERT_TRUE(log.ok());
    Collector collector(*folder, *log, world.session());
    int status = 0;
    while (waitpid(program, &status, WUNTRACED) == program && WIFSTOPPED(status)) {
      taken += *collector.collect();
      kill(program, SIGCONT);
    }
    EXPECT_EQ(status, 0);
  }
  EXPECT_GE(taken, 20u);
  const tracewell_channel& channel = world.control().channel(0);
  const auto path = *std::filesystem::directory_iterator(world.log() + "/.rings");
  std::ifstream ring(path.path(), std::ios::binary);
  uint32_t begun = 0;
  for (uint32_t slot = 0; slot < channel.slots; ++slot) {
    uint32_t magic = 0;
    ring.seekg(TRACEWELL_HOOK_PAGE + slot * channel.packet_bytes);
    ring.read(reinterpret_cast<char*>(&magic), sizeof magic);
    begun += magic == TRACEWELL_PACKET_MAGIC;
  }
  // 300 hooks of 28 bytes are a little more than a packet of 8 KiB: two waited, and one is open.
  EXPECT_LE(begun, 3u);
  ring.close();
  world.stop();
  const LogStory story = read_log(world.log());
  EXPECT_EQ(story.hooks, 20u * 300);
  EXPECT_EQ(story.lost, 0u);
  EXPECT_TRUE(story.times_ascend);
}

/// More than may be open at a time, in turns, with parts in between that go.
TEST(HooksCollector, LogOfManyStreams) {
  constexpr uint64_t kFirst = 0x123456789abcdef0;
  constexpr uint64_t kStreams = 200;
  constexpr uint64_t kPackets = 5;
  World world;
  ASSERT_TRUE(make_log_folder(world.log()).ok());
  const std::vector<uint8_t> records(1000);
  tracewell_packet head{};
  head.magic = TRACEWELL_PACKET_MAGIC;
  head.stream_id = TRACEWELL_PACKET_STREAM;
  head.identity[1] = kFirst;
  head.packet_bits = head.content_bits = (sizeof head + records.size()) * 8;
  head.state = TRACEWELL_PACKET_WHOLE;
  head.records = 1;
  for (const uint64_t limit : {uint64_t{0}, uint64_t{100'000}}) {
    const auto folder = Folder::make(world.log() + (limit ? "/limited" : "/all"));
    ASSERT_TRUE(folder.ok());
    auto log = LogFolder::open(*folder, {limit, false});
    ASSERT_TRUE(log.ok());
    for (head.number = 0; head.number < kPackets; ++head.number)
      for (head.ring = 0; head.ring < kStreams; ++head.ring) {
        head.stream = kFirst + head.ring;
        ASSERT_TRUE(log->append(head, records).ok());
      }
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder->path()))
      bytes += entry.file_size();
    const uint64_t kept = bytes / (sizeof head + records.size());
    EXPECT_EQ(bytes % (sizeof head + records.size()), 0u);
    EXPECT_EQ(kept + log->take_dropped(), kStreams * kPackets);
    if (limit) {
      EXPECT_LE(bytes, limit);
      continue;
    }
    const auto again = LogFolder::open(*folder, {});
    ASSERT_TRUE(again.ok());
    for (uint64_t stream = 0; stream < kStreams; ++stream)
      EXPECT_EQ(again->next_number(kFirst + stream), kPackets);
  }
}

/// Hooks that the log has, and those that its packets say to be lost: of each stream, as many as
/// the last one says.
uint64_t told_in(const std::string& folder) {
  uint64_t records = 0;
  std::map<uint64_t, uint64_t> lost;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
    Bytes rest(bytes);
    while (const auto head = ring::read_hook_packet(rest)) {
      rest = rest.subspan(head->packet_bits / 8);
      records += head->records;
      lost[head->stream] = std::max(lost[head->stream], head->lost + head->overwritten);
    }
  }
  for (const auto& [stream, count] : lost) records += count;
  return records;
}

/// Packets of a hook each, with streams from kFirst on.
class LossyLog : public ::testing::Test {
 protected:
  static constexpr uint64_t kFirst = 0x123456789abcdef0, kPackets = 5;
  static constexpr uint64_t kLost = 10, kOverwritten = 3;

  void SetUp() override { ASSERT_TRUE(make_log_folder(world.log()).ok()); }
  /// In each, the ring has lost kLost more, and dropped kOverwritten.
  void append_all(LogFolder& log, uint32_t ring) {
    tracewell_packet head{};
    head.magic = TRACEWELL_PACKET_MAGIC;
    head.stream_id = TRACEWELL_PACKET_STREAM;
    head.identity[1] = kFirst;
    head.ring = ring;
    head.stream = kFirst + ring;
    head.packet_bits = head.content_bits = (sizeof head + records_.size()) * 8;
    head.state = TRACEWELL_PACKET_WHOLE;
    head.records = 1;
    for (head.number = 0; head.number < kPackets; ++head.number) {
      head.lost = kLost * (head.number + 1);
      head.overwritten = kOverwritten * (head.number + 1);
      ASSERT_TRUE(log.append(head, records_).ok());
    }
  }
  /// Of so many streams.
  static uint64_t all_of(uint64_t streams) {
    return streams * kPackets * (1 + kLost + kOverwritten);
  }

  World world;
  const std::vector<uint8_t> records_ = std::vector<uint8_t>(1000);
};

/// What goes with a stream's last packet, or never came into a full log, is what the ring had lost,
/// too. Streams end before that and behind it.
TEST_F(LossyLog, WhatRingsLostIsCountedWithTheirPackets) {
  constexpr uint32_t kStreams = 40;
  for (const bool full : {false, true}) {
    const auto folder = Folder::make(world.log() + (full ? "/full" : "/limited"));
    ASSERT_TRUE(folder.ok());
    auto log = LogFolder::open(*folder, {20'000, full});
    ASSERT_TRUE(log.ok());
    for (uint32_t ring = 0; ring < kStreams; ++ring) {
      append_all(*log, ring);
      if (ring % 2 == 0) log->stream_ends(kFirst + ring);
    }
    for (int times = 0; times < 2; ++times)  // what was told is not told again
      for (uint32_t ring = 0; ring < kStreams; ++ring) log->stream_ends(kFirst + ring);
    EXPECT_EQ(told_in(folder->path()) + log->take_dropped(), all_of(kStreams)) << full;
    for (uint32_t ring = 0; ring < kStreams; ++ring)
      EXPECT_EQ(log->stream_of(kFirst + ring, 0, ring), kFirst + ring) << "it is its own";
  }
}

/// Another collector has left what this one lets go, and counts.
TEST_F(LossyLog, GoesOnWithWhatIsThere) {
  const auto folder = Folder::make(world.log() + "/again");
  ASSERT_TRUE(folder.ok());
  for (const uint32_t ring : {0, 1}) {
    auto log = LogFolder::open(*folder, {6'000, false});
    ASSERT_TRUE(log.ok());
    append_all(*log, ring);
    log->stream_ends(kFirst + ring);
    EXPECT_EQ(told_in(folder->path()) + log->take_dropped(), all_of(ring + 1)) << ring;
    EXPECT_EQ(log->untold_losses(kFirst + ring, 2 * kPackets * kLost,
                                 2 * kPackets * kOverwritten),
              kPackets * (kLost + kOverwritten));
  }
}

const std::filesystem::path kOld =
    std::filesystem::path(TRACEWELL_SOURCE_DIR) / "tests/trace_hooks/version_2";

/// The ring of a program that was built against a release before, into the session's folder.
void put_old_ring(const World& world, const std::string& name, uint32_t version) {
  std::ifstream in(kOld / "ring", std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  ASSERT_GT(bytes.size(), size_t{TRACEWELL_HOOK_PAGE} + TRACEWELL_PACKET_HEAD_2);
  tracewell_ring ring;
  std::memcpy(&ring, bytes.data(), sizeof ring);
  const Uuid session = world.session();
  std::ranges::copy(session, ring.uuid);
  ring.version = version;
  std::memcpy(bytes.data(), &ring, sizeof ring);
  std::memcpy(bytes.data() + TRACEWELL_HOOK_PAGE + offsetof(tracewell_packet, uuid),
              session.data(), session.size());
  bytes.resize(TRACEWELL_HOOK_PAGE + size_t{ring.slots} * ring.packet_bytes);
  std::ofstream(world.log() + "/.rings/" + name, std::ios::binary) << bytes;
}

TEST(HooksCollector, RingsOfTheReleaseBeforeAreRead) {
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  put_old_ring(world, "25521-0", TRACEWELL_RING_VERSION_OLD);
  fire(world, "10");
  world.stop();
  const LogStory story = read_log(world.log());
  EXPECT_EQ(story.problems, std::vector<std::string>{});
  EXPECT_EQ(story.hooks, 5u + 10u);
  EXPECT_EQ(story.lost, 0u);
  std::string out;
  EXPECT_EQ(World::shell("babeltrace2 '" + world.log() + "' 2>&1 | grep -c TRCHKL", out), 0);
  EXPECT_EQ(out, "15\n");
}

TEST(HooksCollector, RingsOfReleasesToComeAreNamed) {
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  put_old_ring(world, "25521-0", 77);
  world.stop();
  const LogStory story = read_log(world.log());
  EXPECT_TRUE(std::ranges::any_of(story.marks, [](const std::string& mark) {
    return mark.starts_with("0 records lost: those of process 25521 ") &&
           mark.find("version 77") != std::string::npos;
  }));
}

TEST(HooksCollector, LogsOfTheReleaseBeforeAreReadAndGoOn) {
  const LogStory before = read_log(kOld / "log");
  EXPECT_EQ(before.problems, std::vector<std::string>{});
  EXPECT_EQ(before.hooks, 5u);
  World world;
  std::filesystem::copy(kOld / "log", world.log());
  const auto folder = Folder::named(world.log());
  ASSERT_TRUE(folder.ok());
  const auto metadata = folder->read("metadata");
  ASSERT_TRUE(metadata.ok());
  const auto uuid = formats::read_hooklog_uuid(as_text((*metadata)->bytes()));
  ASSERT_TRUE(uuid);
  ASSERT_TRUE(add_mark(*folder, *uuid, "later").ok());
  auto log = LogFolder::open(*folder, {});
  ASSERT_TRUE(log.ok());
  tracewell_packet head{};
  head.magic = TRACEWELL_PACKET_MAGIC;
  head.stream_id = TRACEWELL_PACKET_STREAM;
  head.stream = head.identity[1] = 7;
  std::ranges::copy(*uuid, head.uuid);
  head.packet_bits = head.content_bits = sizeof head * 8;
  head.state = TRACEWELL_PACKET_WHOLE;
  ASSERT_TRUE(log->append(head, {}).ok());
  const LogStory after = read_log(world.log());
  EXPECT_EQ(after.problems, std::vector<std::string>{});
  EXPECT_EQ(after.hooks, 5u);
  EXPECT_EQ(after.marks.size(), before.marks.size() + 1);
  std::string out;
  EXPECT_EQ(World::shell("babeltrace2 '" + world.log() + "' 2>&1 >/dev/null", out), 0) << out;
}

/// Logs go on after a boot, whose counter begins anew: readers refuse a stream whose times go back.
TEST(HooksCollector, MarksStandInTheOrderInWhichTheyWereMade) {
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  fire(world, "10");
  world.stop();
  const auto folder = Folder::named(world.log());
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(add_mark(*folder, world.session(), "of a boot before", now().ticks << 1).ok());
  ASSERT_TRUE(add_mark(*folder, world.session(), "of this one").ok());
  const LogStory story = read_log(world.log());
  EXPECT_EQ(story.problems, std::vector<std::string>{});
  ASSERT_GE(story.marks.size(), 2u);
  EXPECT_EQ(story.marks[story.marks.size() - 2], "of a boot before");
  EXPECT_EQ(story.marks.back(), "of this one");
  std::string out;
  EXPECT_EQ(World::shell("babeltrace2 '" + world.log() + "' 2>&1 >/dev/null", out), 0) << out;
}

TEST(HooksCollector, TheTimeOfALogOfAnotherBootIsTold) {
  constexpr int64_t kStart = 1'700'000'000'123'456'789, kSecond = 1'000'000'000;
  const LogClock clock = clock_of({3000, kStart, 5}, 3'000'000'000);
  EXPECT_EQ(ticks_at(clock, kStart), 3000u);
  EXPECT_EQ(ticks_at(clock, kStart + 2 * kSecond), 6'000'003'000u);
  EXPECT_EQ(ticks_at(clock, kStart - 100'000'000 * kSecond), 0u) << "before the counter began";
  constexpr uint64_t kYear = uint64_t{3'000'000'000} * 31'557'600;
  const LogClock older = clock_of({kYear, kStart, 5}, 3'000'000'000);
  EXPECT_EQ(ticks_at(older, kStart + kSecond), kYear + 3'000'000'000);
}

/// Where a session begins and ends, the monotonic clock may be another (time_namespaces(7)).
TEST(HooksCollector, AClockThatCannotBeIsNotBelieved) {
  constexpr int64_t kStart = 1'700'000'000'123'456'789, kSecond = 1'000'000'000;
  constexpr uint64_t kHertz = 3'000'000'000;
  const Instant start{3000, kStart, 70 * kSecond};
  const auto hertz = [&](int64_t monotonic_ns, uint64_t before) {
    return measure_clock(start, {3000 + 2 * kHertz, kStart, monotonic_ns}, before).hertz;
  };
  EXPECT_EQ(hertz(72 * kSecond, kHertz - 1000), kHertz) << "the longer time is the better one";
  EXPECT_EQ(hertz(132 * kSecond, kHertz - 1000), kHertz - 1000);
  EXPECT_EQ(hertz(12 * kSecond, kHertz - 1000), kHertz - 1000) << "it goes back";
  EXPECT_EQ(hertz(72 * kSecond, 0), kHertz) << "nothing was measured before";
}

/// A program may cut its ring: it loses its own hooks, and the others none.
TEST(HooksCollector, RingThatItsProgramCutsIsALossOfItsOwn) {
  World world;
  world.start(world.options(Buffering::Alternate, 64 << 10));
  fire(world, "100");
  std::string cut;
  {
    const auto folder = open_own_log(world.log());
    ASSERT_TRUE(folder.ok());
    auto log = LogFolder::open(*folder, {});
    ASSERT_TRUE(log.ok());
    Collector collector(*folder, *log, world.session());
    ASSERT_TRUE(collector.collect().ok());
    const auto ring = *std::filesystem::directory_iterator(world.log() + "/.rings");
    cut = ring.path().filename();
    std::filesystem::resize_file(ring.path(), 0);
    fire(world, "100");
    ASSERT_TRUE(collector.collect().ok());
  }
  world.stop();
  const LogStory story = read_log(world.log());
  EXPECT_GE(story.hooks, 100u);
  EXPECT_TRUE(std::ranges::any_of(story.marks, [&](const std::string& mark) {
    return mark.starts_with("0 records lost: process ") && mark.ends_with("its buffer " + cut);
  }));
}

TEST(HooksCollector, CutControlFileEndsNobody) {
  World world;
  world.start(world.options(Buffering::Alternate, 64 << 10));
  std::filesystem::resize_file(world.control().path(), 0);
  EXPECT_EQ(world.control().channel(3).active, 0u);
  EXPECT_EQ(world.control().failures(0), 0u);
}

/// What stands in a ring, and is not of it, is counted, and put under nobody's name.
TEST(HooksCollector, PacketsOfOthersInARingAreLost) {
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  fire(world, "100");
  const auto path = *std::filesystem::directory_iterator(world.log() + "/.rings");
  {
    std::fstream ring(path.path(), std::ios::binary | std::ios::in | std::ios::out);
    ring.seekp(TRACEWELL_HOOK_PAGE + offsetof(tracewell_packet, identity));
    ring.write("another", 7);
  }
  world.stop();
  const LogStory story = read_log(world.log());
  EXPECT_EQ(story.hooks, 0u);
  EXPECT_GT(story.lost, 0u);
}

/// Of a ring, what is not a hole: in a file of its own.
std::string sparse_copy(const std::filesystem::path& ring) {
  const std::string to = ring.parent_path().parent_path().string() + ".ring";
  std::vector<char> begin(64 << 10);
  std::ifstream(ring, std::ios::binary).read(begin.data(), static_cast<long>(begin.size()));
  std::ofstream(to, std::ios::binary).write(begin.data(), static_cast<long>(begin.size()));
  std::filesystem::resize_file(to, std::filesystem::file_size(ring));
  return to;
}

/// Of a file, that somebody has looked at.
size_t pages_in_memory(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const size_t bytes = std::filesystem::file_size(path);
  void* const at = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  std::vector<unsigned char> pages((bytes + 4095) / 4096);
  EXPECT_EQ(mincore(at, bytes, pages.data()), 0);
  munmap(at, bytes);
  return static_cast<size_t>(std::ranges::count_if(pages, [](unsigned char one) {
    return (one & 1) != 0;
  }));
}

TEST(HooksCollector, HolesOfARingAreNotRead) {
  World world;
  world.start(world.options(Buffering::Single, 64 << 20));
  fire(world, "100");
  const std::string copy =
      sparse_copy(*std::filesystem::directory_iterator(world.log() + "/.rings"));
  const auto found = find_dead_rings(copy);
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(collect_dead_rings(found->rings, world.log() + ".other", "test").ok());
  // The kernel reads some in advance.
  EXPECT_LT(pages_in_memory(copy), (size_t{64} << 20) / 4096 / 2);
  EXPECT_EQ(read_log(world.log() + ".other").hooks, 100u);
  world.stop();
}

/// How long a copy takes, whoever made the ring decides.
TEST(HooksCollector, OtherCommandsDoNotWaitForACopy) {
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  fire(world, "100");
  const std::filesystem::path ring =
      *std::filesystem::directory_iterator(world.log() + "/.rings");
  const std::string other = world.log() + ".other";
  const auto found = find_dead_rings(world.log());
  ASSERT_TRUE(found.ok());
  std::thread rescuer;
  {
    const auto command = world.control().lock();
    ASSERT_TRUE(command.ok());
    rescuer = std::thread([&] {
      EXPECT_TRUE(collect_dead_rings(found->rings, other, "test").ok());
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!std::filesystem::exists(other + "/.rings/" + ring.filename().string()) &&
           std::chrono::steady_clock::now() < until)
      usleep(1000);
    EXPECT_TRUE(std::filesystem::exists(other + "/.rings/" + ring.filename().string()));
    EXPECT_FALSE(make_log_folder(other).ok()) << "it is being written";
  }
  rescuer.join();
  EXPECT_EQ(read_log(other).hooks, 100u);
  world.stop();
}

}  // namespace
}  // namespace tracewell::hooks::test
