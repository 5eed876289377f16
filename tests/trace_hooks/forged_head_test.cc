// The head of a ring, and packets in it, are memory that a process which gave up its rights may
// have mapped: what it writes there costs no other ring anything, and decides nothing for all.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>

#include <fmt/format.h>

#include "hooks/components/components.h"
#include "hooks/log/log_clock.h"
#include "hooks/rings/dead_rings.h"
#include "hooks/session/collector.h"
#include "ring/hook_packet.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kHooks = 300;
constexpr uint64_t kDay = 86400;

/// A ring's file, mapped as such a process has it.
class Mapped {
 public:
  explicit Mapped(const fs::path& path) : bytes_(fs::file_size(path)) {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    at_ = static_cast<uint8_t*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
  }
  ~Mapped() { munmap(at_, bytes_); }
  tracewell_ring& head() { return *reinterpret_cast<tracewell_ring*>(at_); }
  tracewell_packet& packet(uint32_t slot) {
    return *reinterpret_cast<tracewell_packet*>(at_ + TRACEWELL_HOOK_PAGE +
                                                size_t{slot} * head().packet_bytes);
  }
  uint8_t* records(uint32_t slot) {
    return reinterpret_cast<uint8_t*>(&packet(slot)) + TRACEWELL_PACKET_HEAD;
  }
  /// As its program closes it, of which nobody looks at each record. Returns the first hook.
  uint8_t* close(uint32_t slot) {
    const Bytes all(records(slot), head().packet_bytes - TRACEWELL_PACKET_HEAD);
    ring::HookWalk walk(all, true, 0);
    ring::HookRecord record;
    tracewell_packet& one = packet(slot);
    size_t end = 0, first = 0;
    for (one.records = 0; walk.next(record); end = record.at + record.bytes) {
      if (record.word_bytes == 0) continue;
      if (one.records++ == 0) first = record.at;
    }
    one.content_bits = (TRACEWELL_PACKET_HEAD + end) * 8;
    one.ticks_end = now().ticks;
    one.state = TRACEWELL_PACKET_WHOLE;
    return records(slot) + first;
  }
  std::vector<uint8_t> save() const { return {at_, at_ + bytes_}; }
  void restore(const std::vector<uint8_t>& saved) { std::ranges::copy(saved, at_); }
  void give_back() { ASSERT_EQ(madvise(at_, bytes_, MADV_REMOVE), 0); }
  /// Those that there are say the same as the head.
  void agree() {
    for (uint32_t slot = 0; slot < head().slots; ++slot) {
      tracewell_packet& one = packet(slot);
      if (one.state == 0) continue;
      one.pid = head().pid;
      one.ring = head().number;
      std::memcpy(one.identity, head().identity, sizeof one.identity);
      one.stream = ring::hook_stream(head());
    }
  }

 private:
  size_t bytes_;
  uint8_t* at_;
};

class ForgedHead : public testing::Test {
 protected:
  /// Two programs with a ring each, of kHooks hooks; the first one's comes first to the log.
  void SetUp() override {
    world_.start(world_.options(Buffering::Single, 1 << 20));
    std::vector<pid_t> pids;
    for (int i = 0; i < 2; ++i) {
      pids.push_back(World::run("hook_hammer", {world_.counts_path(), "1",
                                                std::to_string(kHooks), "0"}));
      EXPECT_EQ(World::wait_for(pids.back()), 0);
    }
    std::vector<std::string> names;
    for (const auto& one : fs::directory_iterator(world_.log() + "/.rings"))
      names.push_back(one.path().filename());
    ASSERT_EQ(names.size(), 2u);
    std::ranges::sort(names);  // as a collector takes them
    forged_ = world_.log() + "/.rings/" + names[0];
    honest_ = world_.log() + "/.rings/" + names[1];
    honest_pid_ = static_cast<uint32_t>(std::stoul(names[1]));
    honest_tid_ = Mapped(honest_).head().pid == 0 ? 0 : Mapped(honest_).packet(0).tid;
  }

  void forge(const std::function<void(Mapped&, tracewell_ring& honest)>& change) {
    Mapped forged(forged_), honest(honest_);
    change(forged, honest.head());
  }
  /// What the log holds of the other ring's thread.
  uint64_t honest_hooks(const LogStory& story) const {
    const auto found = story.threads.find(honest_tid_);
    return found == story.threads.end() ? 0 : found->second.numbers.size();
  }

  World world_;
  std::string forged_, honest_;
  uint32_t honest_pid_ = 0, honest_tid_ = 0;
};

TEST_F(ForgedHead, SaysThatItIsTheOther) {
  forge([](Mapped& forged, tracewell_ring& honest) {
    std::memcpy(forged.head().identity, honest.identity, sizeof honest.identity);
    forged.head().pid = honest.pid;
    forged.head().number = honest.number;
    forged.head().start = honest.start;
    forged.agree();
    forged.packet(0).number = 1000;
    forged.packet(0).ticks_end += uint64_t{1} << 50;
  });
  world_.stop();
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(honest_hooks(story), kHooks);
  EXPECT_GE(story.lost, 1u);
  EXPECT_EQ(story.problems, std::vector<std::string>{});
}

/// Its own identity is a number below that of the other: so their streams are one.
TEST_F(ForgedHead, HasTheStreamOfTheOther) {
  forge([](Mapped& forged, tracewell_ring& honest) {
    forged.head().identity[1] = honest.identity[1] + honest.number - forged.head().number;
    forged.agree();
  });
  world_.stop();
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(honest_hooks(story), kHooks);
  EXPECT_EQ(story.hooks, 2 * kHooks);
  EXPECT_EQ(story.lost, 0u);
  EXPECT_EQ(story.problems, std::vector<std::string>{});
}

TEST_F(ForgedHead, HasTheStreamOfMarks) {
  for (const bool without_process : {false, true}) {
    forge([&](Mapped& forged, tracewell_ring&) {
      if (without_process) forged.head().pid = forged.head().number = 0;
      forged.head().identity[0] = 0;
      forged.head().identity[1] = -uint64_t{forged.head().number};
      forged.agree();
      forged.packet(0).number = uint64_t{1} << 40;
      forged.packet(0).ticks_end += uint64_t{1} << 50;
    });
  }
  world_.stop();
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(honest_hooks(story), kHooks);
  ASSERT_GE(story.marks.size(), 2u);
  EXPECT_EQ(std::ranges::count(story.marks, "TRACE ON channel 0"), 1);
  EXPECT_EQ(std::ranges::count(story.marks, "TRACE OFF channel 0"), 1);
  EXPECT_EQ(story.problems, std::vector<std::string>{});
}

/// What the log's own metadata says of the time holds for all.
TEST_F(ForgedHead, SaysWhatTheTimeWas) {
  forge([](Mapped& forged, tracewell_ring&) {
    forged.head().time_ns -= static_cast<int64_t>(500 * kDay) * 1'000'000'000;
    forged.head().ticks -= kDay << 31;
    forged.head().hertz *= 3;
  });
  const std::string other = world_.log() + ".other";
  const auto found = find_dead_rings(world_.log());
  ASSERT_TRUE(found.ok());
  const auto done = collect_dead_rings(found->rings, other, "test");
  ASSERT_TRUE(done.ok()) << done.error().text();
  const auto there = Folder::named(world_.log()), rescued = Folder::named(other);
  const auto clock = clock_in(*read_metadata(*there)), told = clock_in(*read_metadata(*rescued));
  ASSERT_TRUE(clock && told);
  EXPECT_EQ(told->hertz, clock->hertz);
  EXPECT_EQ(told->seconds, clock->seconds);
  EXPECT_EQ(told->ticks, clock->ticks);
  EXPECT_EQ(honest_hooks(read_log(other)), kHooks);
  world_.stop();
}

/// Its file's name decides where it goes: not into the place of the other's.
TEST_F(ForgedHead, IsRescuedBesideTheOther) {
  forge([](Mapped& forged, tracewell_ring& honest) {
    forged.head().pid = honest.pid;
    forged.head().number = honest.number;
  });
  const std::string other = world_.log() + ".other";
  const auto found = find_dead_rings(world_.log());
  ASSERT_TRUE(found.ok());
  const auto done = collect_dead_rings(found->rings, other, "test");
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(honest_hooks(read_log(other)), kHooks);
  world_.stop();
}

uint64_t told(const LogStory& story, std::string_view begin) {
  return static_cast<uint64_t>(std::ranges::count_if(
      story.marks, [&](const std::string& mark) { return mark.starts_with(begin); }));
}

/// Readers of CTF are strict, and stop at the first thing that is not as they expect it.
void expect_babeltrace_reads(const std::string& log) {
  std::string out;
  EXPECT_EQ(World::shell("babeltrace2 '" + log + "' 2>&1 >/dev/null", out), 0) << out;
}

constexpr char kUnreadable[] = "0 records lost: those of process ";
constexpr char kOtherTimes[] = "0 records lost: in the buffer ";

/// What its program had recorded is lost with its head, and that is told.
TEST_F(ForgedHead, IsNotThereAnyMore) {
  const std::vector<std::function<void(Mapped&)>> ways = {
      [](Mapped& forged) { forged.head().magic = 0; },
      [](Mapped& forged) { forged.head().magic = 77; },
      [](Mapped& forged) { forged.head().slots = 4096; },
      [](Mapped& forged) { std::memset(&forged.head(), 0, TRACEWELL_HOOK_PAGE); },
  };
  const tracewell_ring before = Mapped(forged_).head();
  for (const auto& way : ways) {
    forge([&](Mapped& forged, tracewell_ring&) {
      forged.head() = before;
      way(forged);
    });
    const auto found = find_dead_rings(world_.log());
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->rings.size(), 1u);
    EXPECT_EQ(found->left_out.size(), 1u);
  }
  world_.stop();
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(honest_hooks(story), kHooks);
  EXPECT_EQ(told(story, kUnreadable), 1u);
}

/// Whose hooks it has, nobody can tell then.
TEST_F(ForgedHead, SaysThatItIsOfAnotherTrace) {
  forge([](Mapped& forged, tracewell_ring&) { forged.head().uuid[0] ^= 1; });
  world_.stop();
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(honest_hooks(story), kHooks);
  EXPECT_EQ(told(story, "0 records lost: 1 buffers in .rings say that they are of other"), 1u);
}

/// It was given back, and so reads as zeros.
TEST_F(ForgedHead, HasNoMemoryAnyMore) {
  forge([&](Mapped& forged, tracewell_ring&) { forged.give_back(); });
  world_.stop();
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(honest_hooks(story), kHooks);
  EXPECT_EQ(told(story, kUnreadable), 1u);
}

/// A program that was killed when it had made room for its ring has recorded nothing.
TEST_F(ForgedHead, IsNotThereYet) {
  const std::string name = forged_ + "1";
  {
    const UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(posix_fallocate(fd.get(), 0, 1 << 20), 0);
  }
  world_.stop();
  const LogStory story = read_log(world_.log());
  EXPECT_EQ(story.hooks, 2 * kHooks);
  EXPECT_EQ(told(story, kUnreadable), 0u);
  EXPECT_FALSE(fs::exists(world_.log() + "/.rings"));
}

/// Hooks are fired between the session's start and now.
TEST_F(ForgedHead, HasHooksOfAnotherTime) {
  constexpr int64_t kSecond = 1'000'000'000;  // readers round; what was written is years away
  const int64_t start_ns = world_.control().channel(0).time_ns;
  for (const bool of_dead : {true, false}) {
    forge([&](Mapped& forged, tracewell_ring&) {
      std::memset(forged.close(0) + 2, 0, TRACEWELL_RECORD_TICK_BITS / 8);
      forged.packet(0).ticks_begin = 1000;
      forged.packet(0).ticks_end = uint64_t{1} << 60;
    });
    const std::string other = world_.log() + ".other";
    if (of_dead) {
      const auto found = find_dead_rings(world_.log());
      ASSERT_TRUE(found.ok());
      ASSERT_TRUE(collect_dead_rings(found->rings, other, "test").ok());
    } else {
      world_.stop();
    }
    const std::string log = of_dead ? other : world_.log();
    const LogStory story = read_log(log);
    EXPECT_EQ(story.hooks, 2 * kHooks);
    EXPECT_GE(story.first_ns, start_ns - kSecond);
    EXPECT_LE(story.last_ns, now().time_ns + kSecond);
    EXPECT_EQ(told(story, kOtherTimes), 1u);
    EXPECT_EQ(story.problems, std::vector<std::string>{});
    expect_babeltrace_reads(log);
  }
}

/// What no program writes is lost, and nothing else is.
TEST_F(ForgedHead, HasRecordsThatAreNone) {
  const std::vector<std::function<void(uint8_t*)>> ways = {
      [](uint8_t* at) { std::memset(at, 0xee, 20); },
      [](uint8_t* at) { at[0] = TRACEWELL_RECORD_MARK; },
      [](uint8_t* at) { at[0] = TRACEWELL_RECORD_THREAD; },
      [](uint8_t* at) { at[1] = 0x40; },                  // a flag that is none
      [](uint8_t* at) { at[1] = TRACEWELL_RECORD_CPU; },  // this log's records have none
      [](uint8_t* at) {  // longer than the packet
        at[0] = TRACEWELL_RECORD_PROGRAM;
        at[8] = at[9] = 0xff;
      },
  };
  const auto packet = Mapped(forged_).save();
  for (const auto& way : ways) {
    forge([&](Mapped& forged, tracewell_ring&) {
      forged.restore(packet);
      way(forged.close(0));
    });
    const std::string other = fmt::format("{}.{}", world_.log(), &way - ways.data());
    const auto found = find_dead_rings(world_.log());
    ASSERT_TRUE(found.ok());
    ASSERT_TRUE(collect_dead_rings(found->rings, other, "test").ok());
    const LogStory story = read_log(other);
    EXPECT_EQ(honest_hooks(story), kHooks);
    EXPECT_GE(story.lost, 1u);
    EXPECT_EQ(story.problems, std::vector<std::string>{});
    expect_babeltrace_reads(other);
  }
  world_.stop();
}

/// Beside a collector, round after round, until it has looked for dead programs.
void collect_for_long(World& world, const std::function<void()>& between = {}) {
  const auto folder = open_own_log(world.log());
  ASSERT_TRUE(folder.ok());
  auto log = LogFolder::open(*folder, {});
  ASSERT_TRUE(log.ok());
  Collector collector(*folder, *log, world.session());
  constexpr int kRounds = 600;
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(collector.collect().ok());
    if (i == 0 && between) between();
  }
}

fs::path only_ring(const World& world) {
  const fs::directory_iterator first(world.log() + "/.rings");
  EXPECT_NE(first, fs::directory_iterator());
  return first->path();
}

/// Of a program that lives, its head says that it is of a process that began at another time.
TEST(ForgedStart, IsOfALivingProgram) {
  World world;
  world.start(world.options(Buffering::Alternate, 1 << 20));
  const pid_t program = World::run("hook_lives", {"pauses"});
  int status = 0;
  ASSERT_EQ(waitpid(program, &status, WUNTRACED), program);
  ASSERT_TRUE(WIFSTOPPED(status));
  const fs::path ring = only_ring(world);
  ++Mapped(ring).head().start;
  collect_for_long(world);
  EXPECT_TRUE(fs::exists(ring));
  do kill(program, SIGCONT);
  while (waitpid(program, &status, WUNTRACED) == program && WIFSTOPPED(status));
  EXPECT_EQ(status, 0);
  world.stop();
  const LogStory story = read_log(world.log());
  EXPECT_EQ(story.hooks, 20u * 300);
  EXPECT_EQ(story.lost, 0u);
}

/// A collector that has it mapped goes by what its head was.
TEST(ForgedStart, IsNoRingAnyMore) {
  World world;
  world.start(world.options(Buffering::Alternate, 1 << 20));
  const pid_t collector = world.start_collector();
  const pid_t program = World::run("hook_lives", {"pauses"});
  int status = 0;
  uint64_t stops = 0;
  while (waitpid(program, &status, WUNTRACED) == program && WIFSTOPPED(status)) {
    // With the fifth stop a packet is full: who has released it has opened the ring.
    if (++stops == 5) {
      Mapped ring(only_ring(world));
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (std::atomic_ref(ring.head().releases).load() == 0) {
        ASSERT_LT(std::chrono::steady_clock::now(), until);
        usleep(1000);
      }
      std::memset(&ring.head(), 0, offsetof(tracewell_ring, lost));
    }
    kill(program, SIGCONT);
  }
  EXPECT_EQ(status, 0);
  world.stop();
  World::wait_for(collector);
  const LogStory story = read_log(world.log());
  EXPECT_EQ(stops, 20u);
  EXPECT_EQ(story.hooks, stops * 300);
  EXPECT_EQ(story.lost, 0u);
}

/// A process that has the id of one that ended has not got that one's ring: it goes.
TEST(ForgedStart, IdIsUsedAgain) {
  World world;
  world.start(world.options(Buffering::Alternate, 1 << 20));
  const pid_t before = World::run("hook_hammer", {world.counts_path(), "1", "100", "0"});
  EXPECT_EQ(World::wait_for(before), 0);
  const pid_t later = fork();
  if (later == 0) {
    pause();
    _exit(0);
  }
  const fs::path ring = only_ring(world);
  const fs::path of_later = ring.parent_path() / (std::to_string(later) + "-0");
  {
    Mapped mapped(ring);
    mapped.head().pid = static_cast<uint32_t>(later);
    mapped.agree();
    --mapped.head().start;
  }
  fs::rename(ring, of_later);
  collect_for_long(world);
  EXPECT_FALSE(fs::exists(of_later));
  kill(later, SIGKILL);
  World::wait_for(later);
  world.stop();
  EXPECT_EQ(read_log(world.log()).hooks, 100u);
}

/// Two processes with one hook each in the buffers of a component of the same name.
class ForgedComponent : public testing::Test {
 protected:
  void SetUp() override {
    const std::string rules = world_.log() + ".rules";
    std::ofstream(rules) << "c * memory=1 memory_level=9\n";
    setenv("TRACEWELL_COMPONENTS", rules.c_str(), 1);
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(World::wait_for(World::run("component_hostile", {"slot"})), 0);
    const std::string all = fs::path(world_.control().path()).parent_path() /
                            TRACEWELL_COMPONENTS_NAME;
    for (const auto& one : fs::directory_iterator(all)) {
      if (one.is_regular_file() &&
          !one.path().native().ends_with(TRACEWELL_REGISTERED_SUFFIX))
        blocks_.push_back(one.path());
      if (!one.is_directory()) continue;
      for (const auto& ring : fs::directory_iterator(one.path() / ".rings"))
        rings_.push_back(ring.path());
    }
    std::ranges::sort(blocks_);
    std::ranges::sort(rings_);
    ASSERT_EQ(blocks_.size(), 2u);
    ASSERT_EQ(rings_.size(), 2u);
  }
  ~ForgedComponent() override { unsetenv("TRACEWELL_COMPONENTS"); }

  /// Of the component that they have in common.
  LogStory dump() {
    const std::string to = world_.log() + ".dumps";
    const auto done = dump_components(*all_components(), to, "test");
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().text());
    return read_log(to + "/part");
  }

  World world_;
  std::vector<fs::path> blocks_, rings_;
};

TEST_F(ForgedComponent, SaysWhatTheTimeWas) {
  const int64_t before = now().time_ns;
  for (const fs::path& file : blocks_) {
    const UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    for (size_t slot = 0; slot * TRACEWELL_HOOK_PAGE < fs::file_size(file); ++slot) {
      tracewell_component one;
      const auto at = static_cast<off_t>(slot * TRACEWELL_HOOK_PAGE);
      ASSERT_EQ(pread(fd.get(), &one, sizeof one, at), ssize_t{sizeof one});
      one.channel.time_ns -= static_cast<int64_t>(500 * kDay) * 1'000'000'000;
      one.channel.ticks -= kDay << 31;
      one.channel.monotonic_ns /= 2;
      ASSERT_EQ(pwrite(fd.get(), &one, sizeof one, at), ssize_t{sizeof one});
    }
  }
  const LogStory story = dump();
  EXPECT_EQ(story.hooks, 2u);
  constexpr int64_t kMinute = 60'000'000'000;
  EXPECT_LT(story.first_ns, before);
  EXPECT_GT(story.first_ns, before - kMinute);
}

TEST_F(ForgedComponent, IsNoRingAnyMore) {
  const UniqueFd fd(::open(rings_[0].c_str(), O_RDWR | O_CLOEXEC));
  const uint32_t slots = 4096;
  ASSERT_EQ(pwrite(fd.get(), &slots, sizeof slots, offsetof(tracewell_ring, slots)),
            ssize_t{sizeof slots});
  const LogStory story = dump();
  EXPECT_EQ(story.hooks, 1u);
  EXPECT_EQ(std::ranges::count_if(story.marks, [](const std::string& mark) {
              return mark.starts_with("0 records lost: those of process ");
            }), 1);
}

TEST_F(ForgedComponent, IsNoRingYet) {
  const UniqueFd fd(::open(rings_[0].c_str(), O_RDWR | O_CLOEXEC));
  const uint64_t magic = 0;
  ASSERT_EQ(pwrite(fd.get(), &magic, sizeof magic, offsetof(tracewell_ring, magic)),
            ssize_t{sizeof magic});
  const LogStory story = dump();
  EXPECT_EQ(story.hooks, 1u);
  EXPECT_EQ(std::ranges::count_if(story.marks, [](const std::string& mark) {
              return mark.starts_with("0 records lost: those of process ");
            }), 1);
}

/// How a program of component_hostile ends, whose components are in memory trace.
int with_memory(const std::string& how) {
  World world;
  const std::string rules = world.log() + ".rules";
  std::ofstream(rules) << "c * memory=1 memory_level=9\n";
  setenv("TRACEWELL_COMPONENTS", rules.c_str(), 1);
  const int status = World::wait_for(World::run("component_hostile", {how}));
  unsetenv("TRACEWELL_COMPONENTS");
  return status;
}

/// A child that has it could cut a file that its parent has mapped.
TEST(ForgedBlock, ForkHasNoFileOfTheLibrary) { EXPECT_EQ(with_memory("forked"), 0); }

/// Of a session and a size that stand in its block, a thread makes one ring, of the size that a
/// command or its program gave.
TEST(ForgedBlock, FillsNoDisk) { EXPECT_EQ(with_memory("sessions"), 0); }

}  // namespace
}  // namespace tracewell::hooks::test
