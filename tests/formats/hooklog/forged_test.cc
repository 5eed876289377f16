// What a process that gave up its rights writes into the rings that it has mapped is told of no
// other ring and of no other process.
#include <malloc.h>
#include <sys/inotify.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/files/unique_fd.h"
#include "formats/hooklog/programs.h"
#include "formats/hooklog/rings.h"
#include "ring/ring_name.h"

namespace tracewell::formats::test {
namespace {

/// Of this process's memory that is no file's.
uint64_t own_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::stoull(line.substr(8));
  return 0;
}

constexpr Who kHonest = {200, 0, 0x5555, 201};
constexpr Who kForger = {100, 0, 0x7777, 100};
/// What the forger says: the other's process and ring, or its stream alone.
constexpr Who kAsHonest = {200, 0, 0x5555, 201};
constexpr Who kInItsStream = {100, 0, 0x5555, 100};
/// Its name's, but for the stream of marks.
constexpr Who kAsMarks = {100, 1, UINT64_MAX, 100};

using HooklogForged = HooklogRings;

TEST_F(HooklogForged, RingThatSaysThatItIsTheOther) {
  put(".rings/100-0", ring(kAsHonest, {packet(kAsHonest, 0, hook(66)),
                                       packet(kAsHonest, 1, hook(67))}));
  put(".rings/200-0", ring(kHonest, {packet(kHonest, 0, hook(1))}));
  const Stories wanted = {"200/201 hook 1"};
  EXPECT_EQ(take_all(*follow()), wanted);
  EXPECT_EQ(codes(), Stories({"other-packet", "other-packet"}));
  EXPECT_EQ(read(), wanted);
}

TEST_F(HooklogForged, RingWithTheStreamOfTheOther) {
  put(".rings/100-0", ring(kInItsStream, {packet(kInItsStream, 0, hook(66)),
                                          packet(kInItsStream, 1, hook(67))}));
  put(".rings/200-0", ring(kHonest, {packet(kHonest, 0, hook(1))}));
  const Stories wanted = {"100/100 hook 66", "100/100 hook 67", "200/201 hook 1"};
  const auto sorted = [](Stories all) {
    std::ranges::sort(all);
    return all;
  };
  EXPECT_EQ(sorted(take_all(*follow())), wanted);
  EXPECT_EQ(sorted(read()), wanted);
  EXPECT_EQ(codes(), Stories());
}

TEST_F(HooklogForged, RingWithTheStreamOfMarks) {
  const Who marks;
  put("0-0.0", packet(marks, 0, text(TRACEWELL_RECORD_MARK, "TRACE ON channel 0")) +
                   packet(marks, 1, text(TRACEWELL_RECORD_MARK, "TRACE OFF channel 0")));
  put(".rings/100-1", ring(kAsMarks, {packet(kAsMarks, 0, hook(66)),
                                      packet(kAsMarks, 1000, hook(67))}));
  for (const Stories& all : {take_all(*follow()), read()}) {
    EXPECT_EQ(std::ranges::count(all, "mark TRACE ON channel 0"), 1);
    EXPECT_EQ(std::ranges::count(all, "mark TRACE OFF channel 0"), 1);
    EXPECT_EQ(std::ranges::count(all, "100/100 hook 66"), 1);
  }
}

/// A collector gives the ring that comes second a stream of its own. A packet of it is in its ring
/// as well, until its slot is used again.
TEST_F(HooklogForged, PacketOfTheRingThatCameSecondIsOne) {
  Who second = kHonest;
  second.random = ring::next_hook_stream(kHonest.stream(), kHonest.pid, kHonest.ring);
  const Stories wanted = {"100/100 lost 0", "100/100 hook 66", "200/201 hook 1", "200/201 hook 2"};
  put("100-0-1.0", packet(kInItsStream, 5, hook(66, 1400)));
  put("200-0-2.0", packet(second, 0, hook(1)));
  put(".rings/200-0", ring(kHonest, {packet(kHonest, 0, hook(1)),
                                     packet(kHonest, 1, hook(2, 1600))}));
  EXPECT_EQ(read(), wanted);
  EXPECT_EQ(take_all(*follow()), wanted);
  EXPECT_EQ(codes(), Stories());
}

/// What made the collector take another stream may be in the log no more, of which the oldest goes.
TEST_F(HooklogForged, PacketOfARingIsOneAlsoWhenTheOtherRingHasGoneFromTheLog) {
  Who second = kHonest;
  second.random = ring::next_hook_stream(kHonest.stream(), kHonest.pid, kHonest.ring);
  put("200-0-2.0", packet(second, 0, hook(1)));
  put(".rings/200-0", ring(kHonest, {packet(kHonest, 0, hook(1)),
                                     packet(kHonest, 1, hook(2, 1600))}));
  const Stories wanted = {"200/201 hook 1", "200/201 hook 2"};
  EXPECT_EQ(read(), wanted);
  EXPECT_EQ(take_all(*follow()), wanted);
  EXPECT_EQ(codes(), Stories());
}

/// It costs whoever makes them nothing.
TEST_F(HooklogForged, AFileOfManyNamesIsReadOnce) {
  put("100-0-1.0", packet(kForger, 0, hook(66)));
  put(".rings/200-0", ring(kHonest, {packet(kHonest, 0, hook(1))}));
  std::filesystem::create_hard_link(folder_ / "100-0-1.0", folder_ / "100-0-2.0");
  std::filesystem::create_hard_link(folder_ / ".rings/200-0", folder_ / ".rings/200-1");
  const Stories wanted = {"100/100 hook 66", "200/201 hook 1"};
  EXPECT_EQ(read(), wanted);
  EXPECT_EQ(codes(), Stories({"no-ring", "stream-file"}));
}

TEST_F(HooklogForged, FollowedRingKeepsItsPlaceWhateverTheOtherSays) {
  put(".rings/100-0", ring(kForger, {packet(kForger, 0, hook(66))}));
  put(".rings/200-0", ring(kHonest, {packet(kHonest, 0, hook(1))}));
  const auto one = follow();
  EXPECT_EQ(take_all(*one), Stories({"100/100 hook 66", "200/201 hook 1"}));
  // It takes the other's stream, and that is what a collector meets first.
  put(".rings/100-0", ring(kInItsStream, {packet(kInItsStream, 7, hook(67))}));
  put(".rings/200-0", ring(kHonest, {packet(kHonest, 0, hook(1)), packet(kHonest, 1, hook(2))}));
  Stories got = take_all(*one);
  EXPECT_EQ(std::ranges::count(got, "200/201 hook 1"), 0);
  EXPECT_EQ(std::ranges::count(got, "200/201 hook 2"), 1);
  append("100-0-1.0", packet(kInItsStream, 7, hook(67)));
  Who second = kHonest;
  second.random = ring::next_hook_stream(kHonest.stream(), kHonest.pid, kHonest.ring);
  append("200-0-2.0", packet(second, 0, hook(1)) + packet(second, 1, hook(2)) +
                          packet(second, 2, hook(3)));
  std::filesystem::remove_all(folder_ / ".rings");
  EXPECT_EQ(take_all(*one), Stories({"200/201 hook 3"}));
}

/// Each time another stream and another thread: what is kept of it does not grow with that.
TEST_F(HooklogForged, RingThatIsAnotherOneEachTimeIsForgotten) {
  constexpr size_t kRounds = 300;
  const auto one = follow();
  Batch batch;
  const auto say = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      Who who = kForger;
      who.random += 1000 * i;
      who.tid += static_cast<uint32_t>(i);
      put(".rings/100-0", ring(who, {packet(who, 0, hook(i))}));
      size_t hooks = 0;
      while (*one->next(batch))
        for (const Event& event : batch.events()) hooks += std::holds_alternative<Hook>(event.body);
      EXPECT_EQ(hooks, 1u);
    }
  };
  say(0, 10);
  const size_t before = ::mallinfo2().uordblks;
  say(10, 10 + kRounds);
  EXPECT_LT(::mallinfo2().uordblks, before + kRounds);  // less than a byte each
}

/// A packet moves from its ring to the log: who looks at the log first may find it in neither.
TEST_F(HooklogForged, RingsAreOpenedBeforeStreamFiles) {
  put("100-0-1.0", packet(kForger, 0, hook(66)));
  put(".rings/200-0", ring(kHonest, {packet(kHonest, 0, hook(1))}));
  const UniqueFd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  for (const auto& folder : {folder_, folder_ / ".rings"})
    ASSERT_GE(::inotify_add_watch(watch.get(), folder.c_str(), IN_OPEN), 0);
  EXPECT_EQ(read().size(), 2u);
  alignas(inotify_event) char bytes[8192];
  const ssize_t got = ::read(watch.get(), bytes, sizeof bytes);
  Stories opened;
  for (ssize_t at = 0; at < got;) {
    const auto* event = reinterpret_cast<const inotify_event*>(bytes + at);
    if (event->len != 0) opened.emplace_back(event->name);
    at += static_cast<ssize_t>(sizeof *event + event->len);
  }
  const auto ring = std::ranges::find(opened, "200-0");
  const auto part = std::ranges::find(opened, "100-0-1.0");
  ASSERT_TRUE(ring != opened.end() && part != opened.end());
  EXPECT_LT(ring, part);
}

/// Neither while they are in its ring, nor in the log.
TEST_F(HooklogForged, MarksOfAProgramAreNone) {
  const std::string marks = text(TRACEWELL_RECORD_MARK, "TRACE OFF channel 0") +
                            text(TRACEWELL_RECORD_MARK, "9 records lost: of process 200") +
                            text(TRACEWELL_RECORD_MARK, "process 200: /bin/forged") +
                            text(TRACEWELL_RECORD_PROGRAM, "/bin/worker") + hook(66);
  const Stories wanted = {"mark process 100: /bin/worker", "100/100 hook 66"};
  const Stories told = {"forged-mark", "forged-mark", "forged-mark"};
  put(".rings/100-0", ring(kForger, {packet(kForger, 0, marks)}));
  EXPECT_EQ(take_all(*follow()), wanted);
  EXPECT_EQ(codes(), told);
  std::filesystem::remove(folder_ / ".rings/100-0");
  put("100-0-1.0", packet(kForger, 0, marks));
  problems_ = {};
  EXPECT_EQ(read(), wanted);
  EXPECT_EQ(codes(), told);
}

/// What a process that gave up its rights writes into a ring that it has says nothing of others.
TEST_F(HooklogForged, ProgramOfARingIsNotThatOfTheOthers) {
  constexpr Who kFirst = {200, 0, 0x5555, 200}, kSecond = {200, 1, 0x5555, 201};
  const std::string server = text(TRACEWELL_RECORD_PROGRAM, "/bin/server", 1100);
  put("200-0-1.0", packet(kFirst, 0, server + hook(1, 1200) +
                                         text(TRACEWELL_RECORD_PROGRAM, "/bin/other", 1300) +
                                         hook(2, 1700)));
  const std::string deleted = text(TRACEWELL_RECORD_PROGRAM, "/bin/server (deleted)", 1150);
  put("200-1-1.0", packet(kSecond, 0, deleted + hook(3, 1400) + hook(4, 1500)));
  const Stories wanted = {
      "mark process 200: /bin/server", "mark process 200: /bin/server (deleted)",
      "200/200 hook 1", "mark process 200: /bin/other",
      "mark process 200: /bin/server (deleted)", "200/201 hook 3", "200/201 hook 4",
      "mark process 200: /bin/other", "200/200 hook 2"};
  EXPECT_EQ(read(), wanted);
  EXPECT_EQ(take_all(*follow()), wanted);
}

/// Its program has ended, and the number is another process's by now.
TEST_F(HooklogForged, HooksOfAnEndedProcessAreTold) {
  constexpr Who kEnded = {200, 0, 0x5555, 200}, kLater = {200, 0, 0x6666, 200};
  const std::string later = packet(kLater, 0, hook(2, 1300) + hook(3, 1400));
  put("200-0-2.0", later);
  put("200-0-1.0", packet(kEnded, 0, hook(1, 1200)));
  read();
  EXPECT_EQ(codes(), Stories());
  put("200-0-1.0", packet(kEnded, 0, hook(1, 1200) + hook(4, 1350) + hook(5, 1450)));
  EXPECT_EQ(read(), Stories({"200/200 hook 1", "200/200 hook 2", "200/200 hook 4",
                             "200/200 hook 3", "200/200 hook 5"}));
  EXPECT_EQ(codes(), Stories{"two-processes"});
  // Nobody need have lied.
  EXPECT_NE(problems_.kept()[0].text.find("two PID namespaces"), std::string::npos);
  problems_ = {};
  take_all(*follow());
  EXPECT_EQ(codes(), Stories{"two-processes"});
}

/// They give no events between which somebody would ask.
TEST_F(HooklogForged, MarksOfAProgramAreLeftOutUntilNobodyWaits) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    std::string marks;
    for (int k = 0; k < 1000; ++k) marks += text(TRACEWELL_RECORD_MARK, "TRACE OFF");
    bytes += packet(kForger, static_cast<uint64_t>(i), marks);
  }
  put("100-0-1.0", bytes + packet(kForger, 40, hook(66)));
  OpenOptions options;
  int asked = 0;
  options.work.stop = [&] { return ++asked == 20; };
  auto source = open_source(*InputFile::open((folder_ / "metadata").string()), "hooklog", options,
                            problems_);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(take_all(**source), Stories());
  EXPECT_EQ(asked, 20);
}

/// Also where a packet says that it was long before.
TEST_F(HooklogForged, LogBeginsWhereTracingWentOn) {
  const Who marks;
  put("100-0-1.0", packet(kForger, 0, hook(66)));
  put("0-0.0", packet(marks, 0, text(TRACEWELL_RECORD_MARK, "LOG MOVED from a to b")));
  const auto began = [&]() -> std::optional<int64_t> {
    auto source = open_source(*InputFile::open((folder_ / "metadata").string()), "hooklog", {},
                              problems_);
    return (*source)->catalog().began_ns;
  };
  const auto one = follow();
  EXPECT_EQ(take_all(*one).size(), 2u);
  EXPECT_EQ(began(), std::nullopt);
  EXPECT_EQ(one->catalog().began_ns, std::nullopt);
  append("0-0.0", packet(marks, 1, text(TRACEWELL_RECORD_MARK, "TRACE ON channel 0")));
  EXPECT_EQ(take_all(*one).size(), 1u);
  EXPECT_EQ(began(), 5'000'000'000 + int64_t{kBegin});
  EXPECT_EQ(one->catalog().began_ns, began());
}

/// It costs whoever makes them nothing.
TEST_F(HooklogForged, HolesOfARingAreNotLookedAt) {
  tracewell_ring head;
  std::string bytes = ring(kForger, {packet(kForger, 0, hook(66))});
  std::memcpy(&head, bytes.data(), sizeof head);
  head.slots = TRACEWELL_RING_SLOTS_MAX;
  head.packet_bytes = TRACEWELL_PACKET_BYTES_MAX;
  std::memcpy(bytes.data(), &head, sizeof head);
  put(".rings/100-0", bytes);
  const std::string path = (folder_ / ".rings/100-0").string();
  std::filesystem::resize_file(path, TRACEWELL_HOOK_PAGE + uint64_t{head.slots} *
                                                               head.packet_bytes);
  EXPECT_EQ(read(), Stories{"100/100 hook 66"});
  const auto file = InputFile::open(path);
  ASSERT_TRUE(file.ok());
  const Bytes mapped = (*file)->bytes();
  std::vector<unsigned char> pages((mapped.size() + TRACEWELL_HOOK_PAGE - 1) /
                                   TRACEWELL_HOOK_PAGE);
  ASSERT_EQ(::mincore(const_cast<uint8_t*>(mapped.data()), mapped.size(), pages.data()), 0);
  const auto in_memory = std::ranges::count_if(pages, [](unsigned char one) { return one & 1; });
  EXPECT_LE(in_memory, static_cast<long>(bytes.size() / TRACEWELL_HOOK_PAGE));
}

/// Of its one packet, all but the first page.
TEST_F(HooklogForged, HolesOfARingTakeNoMemory) {
  constexpr size_t kRings = 40;
  for (uint32_t i = 0; i < kRings; ++i) {
    const Who who{100 + i, 0, 0x7777, 100 + i};
    tracewell_ring head;
    tracewell_packet open;
    std::string bytes = ring(who, {packet(who, 0, hook(66))});
    std::memcpy(&head, bytes.data(), sizeof head);
    head.packet_bytes = TRACEWELL_PACKET_BYTES_MAX;
    std::memcpy(bytes.data(), &head, sizeof head);
    std::memcpy(&open, bytes.data() + TRACEWELL_HOOK_PAGE, sizeof open);
    open.packet_bits = 8 * uint64_t{head.packet_bytes};
    open.content_bits = 0;
    open.state = TRACEWELL_PACKET_OPEN;
    std::memcpy(bytes.data() + TRACEWELL_HOOK_PAGE, &open, sizeof open);
    const std::string name = fmt::format(".rings/{}-0", who.pid);
    put(name, bytes);
    std::filesystem::resize_file(folder_ / name, TRACEWELL_HOOK_PAGE + head.packet_bytes);
  }
  const uint64_t before = own_kib();
  auto source = open_source(*InputFile::open((folder_ / "metadata").string()), "hooklog", {},
                            problems_);
  ASSERT_TRUE(source.ok());
  const uint64_t after = own_kib();
  EXPECT_LT(after - before, kRings * TRACEWELL_PACKET_BYTES_MAX / 1024 / 4);
  EXPECT_EQ(take_all(**source).size(), kRings);
}

/// Each looked at all others for where it was in the round before.
TEST_F(HooklogForged, RingsOfOneNameAreFollowedQuickly) {
  std::string bytes;
  for (uint64_t i = 0; i < 60000; ++i) bytes += packet({100, 0, 7919 * (i + 1), 100}, 0, hook(66));
  put("100-0-1.0", bytes);
  const auto one = follow();
  EXPECT_EQ(take_all(*one).size(), 60000u);
  EXPECT_EQ(codes(), Stories());
}

/// Of what is not kept, that is told: once.
TEST_F(HooklogForged, MoreProcessesThanAreKeptAreTold) {
  for (const uint32_t more : {0, 3}) {
    std::string bytes;
    const uint32_t count = HooklogPrograms::kMost + more;
    for (uint32_t i = 1; i <= count; ++i)
      bytes += packet({i, 0, 7919 * (i + 1), i}, 0, hook(66));
    put("100-0-1.0", bytes);
    const Stories wanted = more == 0 ? Stories() : Stories{"many-processes"};
    EXPECT_EQ(read().size(), count);
    EXPECT_EQ(codes(), wanted);
    problems_ = {};
    EXPECT_EQ(take_all(*follow()).size(), count);
    EXPECT_EQ(codes(), wanted);
    problems_ = {};
  }
}

TEST_F(HooklogForged, RingsThatCannotBeReadAreTold) {
  put("100-0-1.0", packet(kForger, 0, hook(66)));
  std::filesystem::remove(folder_ / ".rings");
  put(".rings", "no folder");
  const Stories wanted = {"100/100 hook 66"};
  EXPECT_EQ(read(), wanted);
  EXPECT_EQ(codes(), Stories{"no-ring"});
  const auto one = follow();
  EXPECT_EQ(take_all(*one), wanted);
  EXPECT_EQ(take_all(*one), Stories());
  EXPECT_EQ(codes(), Stories({"no-ring", "stream-file"}));
}

/// A sum that goes round would be none.
TEST_F(HooklogForged, LossesOfARingHaveNoSumThatIsNone) {
  tracewell_ring head;
  std::string bytes = ring(kForger, {packet(kForger, 0, hook(66), UINT64_MAX - 2)});
  std::memcpy(&head, bytes.data(), sizeof head);
  head.lost = UINT64_MAX - 2;
  head.unfinished = 3;
  std::memcpy(bytes.data(), &head, sizeof head);
  put(".rings/100-0", bytes);
  EXPECT_EQ(read(), Stories({"100/100 hook 66", fmt::format("100/100 lost {}", UINT64_MAX - 1)}));
}

TEST_F(HooklogForged, FileWithoutTheNameOfARingIsNone) {
  for (const char* name : {"0-0", "200-0.0", "200-0-1", "200-", "2147483648-0", "200-4294967296"})
    put(std::string(".rings/") + name, ring(kHonest, {packet(kHonest, 0, hook(1))}));
  EXPECT_EQ(read(), Stories());
  EXPECT_EQ(codes(), Stories(6, "no-ring"));
  // Whoever follows is told once.
  problems_ = {};
  const auto one = follow();
  for (int round = 0; round < 3; ++round) EXPECT_EQ(take_all(*one), Stories());
  EXPECT_EQ(codes(), Stories(6, "no-ring"));
}

}  // namespace
}  // namespace tracewell::formats::test
