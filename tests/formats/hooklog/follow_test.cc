// A log that grows, however it grows, gives the events that it has in the end.
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/format.h"
#include "formats/hooklog/follow.h"
#include "model/process_table.h"
#include "tracewell/hook_layout.h"

namespace tracewell::formats {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Event& event) {
  if (const Hook* hook = std::get_if<Hook>(&event.body)) {
    std::string words;
    for (const uint64_t word : hook->words) words += fmt::format(" {:x}", word);
    return fmt::format("{} hook {:04x}.{}{} {}", event.tid, hook->id, hook->subhook, words,
                       as_text(hook->data));
  }
  if (const Mark* mark = std::get_if<Mark>(&event.body)) return std::string(mark->text);
  const Lost* lost = std::get_if<Lost>(&event.body);
  return lost ? fmt::format("lost {} {}", lost->count, lost->why) : "?";
}

std::vector<std::string> take_round(Source& source) {
  std::vector<std::string> out;
  Batch batch;
  for (auto more = source.next(batch); more.ok() && *more; more = source.next(batch))
    for (const Event& event : batch.events())
      if (!is_only_known(event)) out.push_back(text_of(event));
  return out;
}

struct HooklogFollowTest : testing::Test {
  fs::path folder = fs::temp_directory_path() / fmt::format("follow-{}", ::getpid());
  ProblemLog problems;
  bool runs = true, stopped = false;
  uint64_t now = UINT64_MAX - 1;

  HooklogFollowTest() {
    fs::remove_all(folder);
    fs::create_directories(folder / ".rings");
    std::ofstream(folder / "metadata") << "/* CTF 1.8 */ tracewell\nclock {\n  freq = 1000000000;\n"
                                          "  offset_s = 5;\n  offset = 0;\n};\n";
  }
  ~HooklogFollowTest() override { fs::remove_all(folder); }

  std::unique_ptr<HooklogFollow> open() {
    auto out = HooklogFollow::open(
        folder.string(),
        {[this](const std::optional<HooklogUuid>&) { return runs; }, [this] { return now; },
         [this] { return stopped; }},
        problems);
    EXPECT_TRUE(out.ok());
    return *std::move(out);
  }
  static std::string input(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void append(const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary | std::ios::app) << bytes;
  }
};

const fs::path kCases = fs::path(TRACEWELL_SOURCE_DIR) / "tests/formats/hooklog";

TEST_F(HooklogFollowTest, PiecesOfAnySizeGiveWhatTheWholeGives) {
  for (const std::string name : {"one-ring", "all-kinds", "unfinished", "late-ticks",
                                 "generic-too-long", "bad-record"}) {
    SCOPED_TRACE(name);
    const std::string bytes = input(kCases / name / "input.hooks");
    ASSERT_FALSE(bytes.empty());
    std::vector<std::string> wanted;
    {
      ProblemLog said;
      auto file = InputFile::open((kCases / name / "input.hooks").string());
      auto whole = open_source(*file, "hooklog", {}, said);
      ASSERT_TRUE(whole.ok());
      wanted = take_round(**whole);
    }
    for (const size_t piece : {bytes.size(), size_t{1}, size_t{50}}) {
      fs::remove(folder / "1234-0.0");
      runs = true;
      const auto follow = open();
      std::vector<std::string> got;
      for (size_t at = 0; at < bytes.size(); at += piece) {
        append("1234-0.0", bytes.substr(at, piece));
        for (std::string& one : take_round(*follow)) got.push_back(std::move(one));
        EXPECT_FALSE(follow->over());
      }
      runs = false;
      for (std::string& one : take_round(*follow)) got.push_back(std::move(one));
      EXPECT_TRUE(follow->over());
      EXPECT_EQ(got, wanted) << "in pieces of " << piece;
    }
  }
}

TEST_F(HooklogFollowTest, WhatIsLaterThanTheRoundWaitsForTheNext) {
  append("1234-0.0", input(kCases / "two-rings" / "input.hooks"));
  const auto follow = open();
  now = 1650;
  EXPECT_EQ(take_round(*follow), (std::vector<std::string>{"1235 hook 0100.0 1 ",
                                                           "1235 hook 0100.0 2 "}));
  now = 1750;
  EXPECT_EQ(take_round(*follow), (std::vector<std::string>{"1235 hook 0100.0 3 "}));
  runs = false;
  EXPECT_EQ(take_round(*follow), (std::vector<std::string>{"1235 hook 0100.0 4 "}));
  EXPECT_TRUE(follow->over());
}

/// Thread ids are used again: each event has the process of its own packet, and the catalog says
/// nothing of a thread id that several processes had.
TEST_F(HooklogFollowTest, ThreadIdsThatAreUsedAgain) {
  std::string bytes = input(kCases / "one-ring" / "input.hooks");
  append("1234-0.0", bytes);
  bytes[28] = bytes[88] = 7;  // another process's ring
  append("1031-0.0", bytes);
  const auto pids = [](Source& source) {
    std::set<uint32_t> out;
    ProcessTable processes(source.catalog());
    Batch batch;
    for (auto more = source.next(batch); more.ok() && *more; more = source.next(batch))
      for (const Event& event : batch.events()) {
        processes.learn(event);
        out.insert(processes.pid_of(event));
      }
    return out;
  };
  const std::set<uint32_t> wanted = {1234, 0x407};
  const auto follow = open();
  EXPECT_EQ(pids(*follow), wanted);
  auto whole = open_source(*InputFile::open((folder / "metadata").string()), "hooklog", {},
                           problems);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(pids(**whole), wanted);
  for (const Catalog* catalog : {&follow->catalog(), &(*whole)->catalog()})
    EXPECT_TRUE(std::ranges::none_of(catalog->extras, [](const auto& one) {
      return one.first.starts_with("hooklog.thread.");
    }));
}

TEST_F(HooklogFollowTest, WhoIsStoppedOpensNoFiles) {
  append("1-1.0", input(kCases / "one-ring" / "input.hooks"));
  const auto follow = open();
  stopped = true;
  Batch batch;
  const auto more = follow->next(batch);
  EXPECT_TRUE(more.ok() && !*more);
  EXPECT_TRUE(follow->over());
}

/// As many ids are used again as there are threads.
TEST_F(HooklogFollowTest, ManyThreadIdsThatAreUsedAgain) {
  constexpr uint32_t kThreads = 60000;
  std::string bytes;
  for (uint32_t i = 0; i < 2 * kThreads; ++i) {
    tracewell_packet head = {};
    head.magic = TRACEWELL_PACKET_MAGIC;
    head.stream_id = TRACEWELL_PACKET_STREAM;
    head.stream = 1000 + i;
    head.packet_bits = head.content_bits = 8 * sizeof head;
    head.ticks_begin = head.ticks_end = 1;
    head.pid = 1 + i;
    head.tid = 100000 + i % kThreads;
    head.state = TRACEWELL_PACKET_WHOLE;
    head.identity[1] = 1000 + i;
    head.record_bytes_max = 4096;
    bytes.append(reinterpret_cast<const char*>(&head), sizeof head);
  }
  append("1-1.0", bytes);
  const auto follow = open();
  const std::clock_t begin = std::clock();
  take_round(*follow);
  EXPECT_LT(std::clock() - begin, 5 * CLOCKS_PER_SEC);
  ASSERT_EQ(problems.kept().size(), 1u);  // each is of a process of its own
  EXPECT_EQ(problems.kept()[0].code, "many-processes");
  for (const auto& [key, value] : follow->catalog().extras)
    EXPECT_FALSE(key.starts_with("hooklog.thread.")) << key;
}

TEST_F(HooklogFollowTest, LossesAreToldOnceAndAsTheyComeToLight) {
  const auto follow = open();
  std::vector<std::string> got;
  for (const char c : input(kCases / "losses" / "input.hooks")) {
    append("1234-0.0", std::string(1, c));
    for (std::string& one : take_round(*follow)) got.push_back(std::move(one));
  }
  const std::string hook = "1235 hook 0100.32 4 a ";
  EXPECT_EQ(got, (std::vector<std::string>{
                     "lost 7 dropped from the thread's ring, which is circular", hook,
                     "lost 3 no room in the thread's ring", hook, "lost 0 packets are missing",
                     hook, "lost 2 no room in the thread's ring"}));
}

TEST_F(HooklogFollowTest, HalfAPacketAtTheEndIsAProblem) {
  append("1234-0.0", input(kCases / "packet-cut" / "input.hooks"));
  const auto follow = open();
  EXPECT_EQ(take_round(*follow).size(), 1u);
  EXPECT_TRUE(problems.empty());
  runs = false;
  EXPECT_TRUE(take_round(*follow).empty());
  ASSERT_EQ(problems.kept().size(), 1u);
  EXPECT_EQ(problems.kept()[0].offset, 132u);
}

TEST_F(HooklogFollowTest, WhatIsNoLogIsRefused) {
  std::ofstream(folder / "metadata") << "something else";
  EXPECT_EQ(HooklogFollow::open(folder.string(), {}, problems).error().code, Errc::Unsupported);
}

}  // namespace
}  // namespace tracewell::formats
