// The short cut through an x64dbg trace tells the same places as its events, from any step on,
// whatever has happened to the file.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/trace64/model.h"

namespace tracewell::formats::test {
namespace {

using Place = StepFlow::Place;

std::vector<Place> flow_from(const StepIndex& steps, uint64_t seq) {
  std::vector<Place> out;
  const auto flow = steps.flow_at(seq);
  EXPECT_TRUE(flow != nullptr);
  while (flow && *flow->next(out)) {
  }
  return out;
}

void expect_same_places(const std::string& bytes) {
  const ReadBack read(bytes);
  ASSERT_TRUE(read.opened.source) << read.opened.error;
  const StepIndex& steps = *read.opened.source->steps();
  const uint64_t count = read.steps.size();
  for (const uint64_t from : {uint64_t{0}, uint64_t{1}, count / 3, count / 2 + 1, count - 1, count,
                              count + 7}) {
    const std::vector<Place> places = flow_from(steps, from);
    ASSERT_EQ(places.size(), from < count ? count - from : 0);
    for (size_t i = 0; i < places.size(); ++i) {
      const Step& step = read.steps[from + i];
      ASSERT_EQ(places[i].seq, from + i);
      ASSERT_EQ(places[i].pc, step.pc) << places[i].seq;
      ASSERT_EQ(places[i].tid, read.tids[from + i]) << places[i].seq;
      std::array<uint8_t, 16> code = {};
      std::copy(step.opcode.begin(), step.opcode.end(), code.begin());
      code[15] = static_cast<uint8_t>(step.opcode.size());
      ASSERT_EQ(places[i].code, code) << places[i].seq;
    }
  }
}

TEST(Trace64Flow, OfTheSamples) {
  for (const char* name :
       {"synthetic_single", "synthetic_threads_fixed", "synthetic_threads_tidbug"})
    expect_same_places(sample(name));
}

TEST(Trace64Flow, OfRandomPrograms) {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const bool wide = seed % 2 == 0;
    RandomProgram program(seed, wide, 1 + seed % 4, 5);
    const Habits habits{wide, seed % 3 == 0};
    const std::string first = record(program.run(2000), habits);
    // A user block, then another session.
    const std::string user = std::string(1, '\x80') + le(3, 4) + "abc";
    expect_same_places(head(wide ? kJson64 : kJson32) + first + user +
                       record(program.run(700), habits));
  }
}

TEST(Trace64Flow, OfDamagedFiles) {
  RandomProgram program(99, true, 3, 5);
  const std::string whole = head(kJson64) + record(program.run(3000), {});
  std::mt19937_64 random(5);
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    std::string bytes = whole;
    const size_t at = 200 + random() % (bytes.size() - 400);
    for (size_t n = 0; n < 40; ++n) bytes[at + n] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(bytes.size() - random() % 3000);
    expect_same_places(bytes);
  }
}

}  // namespace
}  // namespace tracewell::formats::test
