// Sessions that x64dbg's way of writing would not show: blocks of ours tell them.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/trace64/blocks/user.h"
#include "formats/trace64/model.h"
#include "formats/trace64/sums.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

/// "session 3", "lost 7": what stands in front of which step.
std::vector<std::string> told_borders(Source& source) {
  std::vector<std::string> out;
  Batch batch;
  while (*source.next(batch)) {
    for (const Event& event : batch.events()) {
      if (const auto* mark = std::get_if<Mark>(&event.body); mark && mark->session)
        out.push_back(fmt::format("session {}", event.seq));
      if (std::holds_alternative<Lost>(event.body))
        out.push_back(fmt::format("lost {}", event.seq));
    }
  }
  return out;
}

std::vector<std::string> told_borders(const std::string& bytes) {
  Opened opened(bytes, "trace64");
  EXPECT_EQ(opened.problems->count(Problem::Severity::Warning), 0u);
  return told_borders(*opened.source);
}

/// Steps of three threads that go to and fro, some of which change much. `expected`: its borders.
std::string random_lines(uint32_t seed, std::vector<std::string>& expected) {
  std::mt19937 random(seed);
  const auto one_in = [&](uint32_t n) { return random() % n == 0; };
  std::string out = R"({"catalog":{"machine":"x86-64"}})" "\n";
  const size_t count = seed % 4 == 0 ? 1200 : 20 + random() % 60;
  for (size_t seq = 0; seq < count; ++seq) {
    const bool lost = seq != 0 && one_in(20), session = seq != 0 && one_in(10);
    if (lost) {
      out += R"({"kind":"lost","count":0,"why":"x"})" "\n";
      expected.push_back(fmt::format("lost {}", seq));
    }
    if (session) {
      out += R"({"kind":"mark","text":"another","session":true})" "\n";
      expected.push_back(fmt::format("session {}", seq));
    }
    std::string before;
    for (const char* name : {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"})
      if (one_in(2))
        before += fmt::format("{}\"{}\":\"{:#x}\"", before.empty() ? "" : ",", name, random() % 3);
    out += fmt::format(R"({{"kind":"step","tid":{},"pc":"{:#x}","opcode":"90","before":{{{}}}}})"
                       "\n",
                       1 + random() % 3, 0x1000 + (one_in(2) ? seq : random() % 100), before);
  }
  return out;
}

TEST(Trace64ToldSessions, EachIsFoundAgain) {
  for (uint32_t seed = 0; seed < 40; seed += static_cast<uint32_t>(tracewell::test::each_slow())) {
    std::vector<std::string> expected;
    const std::string lines = random_lines(seed, expected);
    for (const char* style : {"minimal", "x64dbg"}) {
      Opened opened(lines);
      ASSERT_TRUE(opened.source) << opened.error;
      const std::string bytes = saved(*opened.source, {.compat = false, .style = style});
      EXPECT_EQ(told_borders(bytes), expected) << seed << " " << style;
      // A short file does not show its style.
      const std::string again = rewritten(bytes);
      EXPECT_EQ(told_borders(again), expected) << seed << " " << style;
      EXPECT_TRUE(rewritten(again) == again) << seed << " " << style;
      EXPECT_EQ(told_borders(converted(converted(bytes, "jsonl"), "trace64")), expected) << seed;
    }
  }
}

/// x64dbg writes behind what is there already, whoever wrote that.
TEST(Trace64ToldSessions, OthersMayAppendOne) {
  RandomProgram first(1, true, 1, 0), second(2, true, 1, 0);
  const auto moments = first.run(1600);
  const std::string appended = record(second.run(1200), {});
  for (const size_t count : {511, 512, 513, 1024, 1535, 1536}) {
    const std::string bytes =
        head(kJson64) + record({moments.begin(), moments.begin() + count + 1}, {});
    Opened opened(bytes, "trace64");
    const std::string ours = saved(*opened.source, {.compat = false, .style = "minimal"});
    const std::vector<std::string> expected = {fmt::format("session {}", count)};
    EXPECT_EQ(told_borders(ours + appended), expected);
    EXPECT_EQ(told_borders(rewritten(ours + appended)), expected);
  }
}

/// Every third step of `bytes` and the first ones of sessions, as they would be written again.
std::string thinned(const std::string& bytes) {
  Opened opened(bytes, "trace64");
  std::vector<Event> kept;
  std::vector<Batch> batches(1);
  while (*opened.source->next(batches.back())) batches.emplace_back();
  const auto sessions = opened.source->steps()->sessions();
  for (const Batch& batch : batches)
    for (const Event& event : batch.events())
      if (!std::holds_alternative<Step>(event.body) || event.seq % 3 == 0 ||
          std::ranges::find(sessions, event.seq) != sessions.end())
        kept.push_back(event);
  ListSource source(opened.source->catalog(), kept);
  return saved(source, {.compat = false, .style = ""});
}

TEST(Trace64ToldSessions, StayWhereStepsAreTakenOut) {
  RandomProgram first(1, true, 1, 0), second(2, true, 1, 0), third(3, true, 1, 0);
  const std::string bytes = head(kJson64) + record(first.run(1025), {}) +
                            record(second.run(300), {}) + record(third.run(1600), {});
  ASSERT_EQ(told_borders(bytes), (std::vector<std::string>{"session 1024", "session 1323"}));
  EXPECT_EQ(rewritten(bytes).find(trace64::kOwnSignature), std::string::npos)
      << "x64dbg's own files need no blocks of ours";
  const std::string third_of_it = thinned(bytes);
  EXPECT_EQ(told_borders(third_of_it), (std::vector<std::string>{"session 342", "session 442"}));
  EXPECT_TRUE(rewritten(third_of_it) == third_of_it);
  EXPECT_EQ(told_borders(thinned(third_of_it)),
            (std::vector<std::string>{"session 114", "session 148"}));
}

TEST(Trace64ToldSessions, NotesAndLossesStandBesideThem) {
  constexpr std::string_view kLines = R"({"catalog":{"machine":"i386"}}
{"kind":"step","seq":0,"pc":"0x10","opcode":"90"}
{"kind":"lost","seq":1,"count":3,"why":"gone"}
{"kind":"mark","seq":1,"text":"beside a loss"}
{"kind":"step","seq":1,"pc":"0x11","opcode":"90"}
{"kind":"mark","seq":2,"session":true,"text":"2"}
{"kind":"mark","seq":2,"text":"beside a session"}
{"kind":"step","seq":2,"pc":"0x12","opcode":"90"}
{"kind":"mark","seq":3,"session":true,"text":"3"}
{"kind":"lost","seq":3,"count":0,"why":"and a loss"}
{"kind":"step","seq":3,"pc":"0x13","opcode":"90"}
)";
  const std::string bytes = converted(kLines, "trace64");
  EXPECT_EQ(told_borders(bytes),
            (std::vector<std::string>{"lost 1", "session 2", "lost 3", "session 3"}));
  Opened opened(bytes, "trace64");
  ASSERT_EQ(opened.source->catalog().notes.size(), 2u);
  EXPECT_EQ(opened.source->catalog().notes[0].step, 1u);
  EXPECT_EQ(opened.source->catalog().notes[1].step, 2u);
}

TEST(Trace64ToldSessions, CompatSaysWhatNobodyWillSee) {
  std::vector<std::string> expected;
  Opened opened(random_lines(1, expected));
  const std::string told = left_out_by_compat(*opened.source);
  const auto count = [&](std::string_view kind) {
    return std::ranges::count_if(expected, [&](const auto& one) { return one.starts_with(kind); });
  };
  EXPECT_NE(told.find(fmt::format("{} sessions begin where", count("session"))), std::string::npos)
      << told;
  EXPECT_NE(told.find(fmt::format("{} times instructions are missing", count("lost"))),
            std::string::npos)
      << told;
}

TEST(Trace64ToldSessions, AWordThatAnotherRecorderListsForNothingIsNoBorder) {
  // Only what changes is listed, and the program counter always; with a rep prefix it stays.
  std::string bytes = head(kJson64);
  std::vector<uint64_t> now(172), last;
  now[16] = 0x401000;
  for (uint32_t i = 0; i < 3000; ++i) {
    RawBlock block;
    const bool rep = i / 7 % 5 == 0 && i % 512 != 511, jumps = i % 512 == 511;
    block.opcode = jumps ? "\xc3" : rep ? "\xf3\xaa" : "\x48\x01\xd8";
    if (i % 512 == 0) block.tid = 4;
    for (uint32_t word = 0; word < 172; ++word)
      if (i % 512 == 0 || word == 16 || now[word] != last[word])
        block.words.emplace_back(word, now[word]);
    bytes += block.bytes();
    last = now;
    if (jumps) {
      now[16] = 0x402000 + i * 5;
      now[4] += 8;
      now[0] ^= 1;
    } else if (rep) {
      ++now[7];
      --now[1];
    } else {
      now[0] = i * 0x9e3779b97f4a7c15;
      now[16] += 3;
    }
  }
  EXPECT_TRUE(told_borders(bytes).empty());
}

}  // namespace
}  // namespace tracewell::formats::test
