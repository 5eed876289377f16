// Where sessions begin in a file that was recorded into more than once.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "formats/trace64/model.h"
#include "formats/trace64/sums.h"

namespace tracewell::formats::test {
namespace {

/// `count` steps: inc rax; jumps back now and then, so that not all of it is a straight line.
std::vector<Moment> counting(size_t count, uint64_t fill, size_t loop) {
  std::vector<Moment> out;
  Moment now;
  now.words.assign(172, fill);
  now.opcode = "\x48\xff\xc0";
  for (size_t i = 0; i < count; ++i) {
    now.words[16] = 0x401000 + 3 * (i % loop);
    out.push_back(now);
    ++now.words[0];
  }
  return out;
}

std::vector<uint64_t> sessions_of(const std::string& bytes) {
  const ReadBack got(bytes);
  EXPECT_EQ(got.bad(), 0u);
  const auto sessions = got.opened.source->steps()->sessions();
  EXPECT_TRUE(rewritten(bytes) == bytes);
  return {sessions.begin(), sessions.end()};
}

using Steps = std::vector<uint64_t>;

TEST(Trace64, SessionBehindAWholeNumberOfDumps) {
  RandomProgram first(1, true, 1, 0), second(2, true, 1, 0);
  EXPECT_EQ(sessions_of(kHead64 + record(first.run(1025), {}) + record(second.run(700), {})),
            (Steps{0, 1024}));
  // Nothing is listed twice here: what changes does so all the time.
  const std::string loop = record(counting(513, 7, 400), {});
  EXPECT_EQ(sessions_of(kHead64 + loop + record(counting(513, 9, 400), {})), (Steps{0, 512}));
}

TEST(Trace64, NoSessionWhereTheProgramOnlyJumps) {
  // Each dump is at the loop's beginning, far from the block in front of it.
  EXPECT_EQ(sessions_of(kHead64 + record(counting(3000, 7, 512), {})), Steps{0});
  RandomProgram program(3, true, 4, 40);
  EXPECT_EQ(sessions_of(kHead64 + record(program.run(5000), {})), Steps{0});
}

TEST(Trace64, SessionsThatOnlyTheirRhythmTells) {
  // The same program three times: what changed was announced, as it always changes.
  const std::string once = record(counting(531, 7, 400), {});
  EXPECT_EQ(sessions_of(kHead64 + once + once + once), (Steps{0, 530, 1060}));
  // Nobody announces anything in the other style.
  Opened opened(kHead64 + once, "trace64");
  const std::string minimal = saved(*opened.source, {.compat = false, .style = "minimal"});
  const std::string blocks = minimal.substr(kHead64.size());
  const ReadBack got(minimal + blocks + blocks);
  EXPECT_EQ(got.sessions, (Steps{530, 1060}));
}

/// The block behind a switch of threads lists nearly every word, and announces none of them.
TEST(Trace64, SessionBehindASwitchOfThreads) {
  RandomProgram random(1, true, 3, 0);
  std::vector<Moment> moments = random.run(103);
  for (size_t i = 0; i < moments.size(); ++i) {
    moments[i].tid = i == 101 ? 12 : 8;
    moments[i].opcode = "\x90";
    const bool other = moments[i].tid == 12;
    moments[i].words.assign(172, other ? 7 : 3);
    moments[i].words[16] = 0x401000 + i;
    moments[i].words[171] = 3;  // or it would be a full dump
  }
  moments.push_back(moments.back());
  ++moments.back().words[16];
  std::vector<Moment> second = RandomProgram(2, true, 1, 0).run(300);
  for (Moment& moment : second) {
    moment.tid = 8;
    moment.words[171] = 3;  // whatever is different was listed
  }
  EXPECT_EQ(sessions_of(kHead64 + record(moments, {}) + record(second, {})), (Steps{0, 103}));
}

TEST(Trace64, DumpsOfExceptionsAreNoSessions) {
  // A flush: all words once more, between two dumps that are due.
  RandomProgram program(4, true, 1, 0);
  const auto moments = program.run(1300);
  const std::string plain = record(moments, {});
  std::string bytes = kHead64;
  std::vector<bool> changed_before(172, true);
  for (size_t i = 0; i + 1 < moments.size(); ++i) {
    const bool flushed = i == 100 || i == 700 || i == 1150, full = i % 512 == 0 || flushed;
    const bool pending_flushed = i + 1 == 100 || i + 1 == 700 || i + 1 == 1150;
    RawBlock block;
    block.opcode = moments[i].opcode;
    if (full) block.tid = moments[i].tid;
    for (uint32_t word = 0; word < 172; ++word) {
      const bool changes =
          !pending_flushed && moments[i].words[word] != moments[i + 1].words[word];
      if (full || changes || changed_before[word])
        block.words.emplace_back(word, moments[i].words[word]);
      changed_before[word] = changes;
    }
    bytes += block.bytes();
  }
  const ReadBack got(bytes);
  EXPECT_TRUE(got.sessions.empty());
  EXPECT_EQ(got.steps.size(), 1299u);
}

/// A thread that ran on while another one was recorded comes back with other registers; where a
/// dump is due then, no session begins.
TEST(Trace64, ThreadsThatRanOnUnseenAreNoSessions) {
  std::mt19937_64 random(5);
  for (const size_t turn : {16u, 100u, 128u}) {
    std::vector<Moment> moments;
    for (size_t i = 0; i < 2200; ++i) {
      Moment now;
      if (i % turn != 0) now = moments.back();
      now.words.resize(172);
      now.tid = 100 + static_cast<uint32_t>(i / turn % 2);
      now.opcode = "\x48\xff\xc0";
      for (uint32_t word = 0; word < 16 && i % turn == 0; ++word) now.words[word] = random() >> 17;
      ++now.words[0];
      now.words[16] = i % turn == 0 ? 0x401000 + random() % 0x4000 * 16 : now.words[16] + 3;
      moments.push_back(now);
    }
    const ReadBack got(kHead64 + record(moments, {}));
    EXPECT_TRUE(got.sessions.empty()) << turn;
    EXPECT_EQ(got.steps.size(), 2199u);
  }
}

}  // namespace
}  // namespace tracewell::formats::test
