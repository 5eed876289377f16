// Runs that differ in known ways: what diff says of them.
#include "timeline/diff/diff.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sanitized.h"
#include "timeline/diff/read_ahead.h"
#include "timeline/diff_runs.h"

namespace tracewell::timeline::test {
namespace {

using tracewell::test::kEach;

const std::vector<uint64_t> kBases = {0x140000000, 0x7ff800000000, 0x7ff810000000};
const std::vector<uint64_t> kOtherBases = {0x7ff6aa0f0000, 0x7ffc12340000, 0x180000000};

DiffReport compare(const StepStore& a, const StepStore& b, const DiffOptions& options = {}) {
  auto report = diff({a, a.catalog()}, {b, b.catalog()}, options);
  EXPECT_TRUE(report.ok());
  return report.ok() ? *report : DiffReport{};
}

Items run_of(const RandomProgram& program, Decisions& decisions,
             const std::vector<uint64_t>& bases) {
  return ProgramRun(program, decisions, bases).items;
}

uint64_t only(const ThreadDiff& thread, uint64_t Difference::*which) {
  uint64_t sum = 0;
  for (const Difference& one : thread.differences) sum += one.*which;
  return sum;
}

TEST(Diff, RunsAtOtherBasesAreTheSame) {
  for (uint32_t seed = 0; seed < 200; seed += kEach) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed, 30), other(seed + 5000, 20);
    Decisions decisions{seed};
    const Items a = run_of(program, decisions, kBases), c = run_of(other, decisions, kBases);
    const Items b = run_of(program, decisions, kOtherBases);
    const Items d = run_of(other, decisions, kOtherBases);
    const DiffReport report = compare(*trace_of({a, c}, seed, 100), *trace_of({b, d}, ~seed, 7));
    EXPECT_TRUE(report.same());
    ASSERT_EQ(report.threads.size(), 2u);
    EXPECT_EQ(report.threads[0].same, a.size());
    EXPECT_EQ(report.threads[1].same, c.size());
    EXPECT_EQ(report.threads[1].tid_a, 101u);
    EXPECT_EQ(report.threads[1].tid_b, 8u);
    for (const Bases::Range& range : report.bases) {
      const size_t module = range.from < kBases[1] ? 0 : range.from < kBases[2] ? 1 : 2;
      EXPECT_EQ(range.distance, kOtherBases[module] - kBases[module]);
    }
  }
}

TEST(Diff, RoundsOfLoopsAreCounted) {
  unsigned loops = 0;
  for (uint32_t seed = 0; seed < 400; seed += kEach) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed, 30);
    Decisions plain{seed}, changed{seed};
    const Items a = run_of(program, plain, kBases);
    if (plain.asked == 0) continue;
    changed.change_at = seed * 31 % plain.asked;
    changed.extra_rounds = 1 + seed % 9;
    const Items b = run_of(program, changed, kOtherBases);
    if (changed.changed_kind == Node::Kind::Branch) continue;
    ++loops;
    const bool swap = seed % 2 == 1;
    const DiffReport report = compare(*trace_of({swap ? b : a}, seed, 1),
                                      *trace_of({swap ? a : b}, seed, 1));
    const ThreadDiff& thread = report.threads.at(0);
    ASSERT_EQ(thread.differences.size(), 1u);
    const Difference& one = thread.differences[0];
    EXPECT_EQ(one.kind, Difference::Kind::Loop);
    EXPECT_TRUE(one.exact);
    EXPECT_EQ(swap ? one.times_b : one.times_a, changed.rounds_before);
    EXPECT_EQ(swap ? one.times_a : one.times_b, changed.rounds_before + changed.extra_rounds);
    EXPECT_EQ(thread.same, a.size());
    EXPECT_EQ(swap ? one.only_a : one.only_b, b.size() - a.size());
    DiffOptions options;
    options.ignore_loops = true;
    EXPECT_TRUE(compare(*trace_of({a}, seed, 1), *trace_of({b}, seed, 1), options).same());
  }
  EXPECT_GT(loops, 100u / kEach);
}

/// The same of 32-bit programs, in threads that take turns elsewhere.
TEST(Diff, RunsOf32BitProgramsInThreads) {
  const std::vector<uint64_t> bases = {0x400000, 0x77000000, 0xf0010000};
  const std::vector<uint64_t> others = {0xf00000, 0x76000000, 0x10010000};
  unsigned loops = 0, branches = 0;
  for (uint32_t seed = 0; seed < 200; seed += kEach) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed, 30), other(seed + 9000, 20);
    Decisions plain{seed}, changed{seed}, same{seed};
    const Items a = run_of(program, plain, bases), c = run_of(other, same, bases);
    if (plain.asked == 0) continue;
    changed.change_at = seed * 31 % plain.asked;
    changed.extra_rounds = 1 + seed % 9;
    const Items b = run_of(program, changed, others), d = run_of(other, same, others);
    const DiffReport report = compare(*trace_of({c, a, c}, seed, 100, false),
                                      *trace_of({d, b, d}, seed * 7 + 1, 7, false));
    ASSERT_EQ(report.threads.size(), 3u);
    for (const size_t quiet : {size_t{0}, size_t{2}}) {
      EXPECT_TRUE(report.threads[quiet].differences.empty());
      EXPECT_EQ(report.threads[quiet].same, c.size());
    }
    const ThreadDiff& thread = report.threads[1];
    EXPECT_EQ(thread.same + only(thread, &Difference::only_a), a.size());
    EXPECT_EQ(thread.same + only(thread, &Difference::only_b), b.size());
    ASSERT_FALSE(thread.differences.empty());
    const Difference& one = thread.differences[0];
    if (changed.changed_kind == Node::Kind::Branch) {
      ++branches;
      ASSERT_TRUE(one.a && one.b);
      EXPECT_EQ(one.a->pc, a[changed.steps_before].pc);
      EXPECT_EQ(one.b->pc, b[changed.steps_before].pc);
    } else {
      ++loops;
      ASSERT_EQ(thread.differences.size(), 1u);
      EXPECT_EQ(one.kind, Difference::Kind::Loop);
      EXPECT_EQ(one.times_a, changed.rounds_before);
      EXPECT_EQ(one.times_b, changed.rounds_before + changed.extra_rounds);
    }
  }
  EXPECT_GT(loops, 40u / kEach);
  EXPECT_GT(branches, 20u / kEach);
}

TEST(Diff, TheFirstPartingIsTheBranch) {
  unsigned branches = 0;
  for (uint32_t seed = 0; seed < 400; seed += kEach) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed, 30), other(seed + 7000, 20);
    Decisions plain{seed}, changed{seed};
    const Items a = run_of(program, plain, kBases);
    if (plain.asked == 0) continue;
    changed.change_at = seed * 31 % plain.asked;
    const Items b = run_of(program, changed, kOtherBases);
    if (changed.changed_kind != Node::Kind::Branch) continue;
    ++branches;
    const DiffReport report = compare(*trace_of({a}, seed, 1), *trace_of({b}, seed, 1));
    const ThreadDiff& thread = report.threads.at(0);
    ASSERT_FALSE(thread.differences.empty());
    const Difference& one = thread.differences[0];
    ASSERT_TRUE(one.branch_a && one.branch_b && one.a && one.b);
    EXPECT_EQ(one.branch_a->seq, changed.steps_before - 1);
    EXPECT_EQ(one.branch_b->seq, changed.steps_before - 1);
    EXPECT_EQ(one.a->pc, a[changed.steps_before].pc);
    EXPECT_EQ(one.b->pc, b[changed.steps_before].pc);
    EXPECT_TRUE(one.meet_a && one.meet_b);
    EXPECT_EQ(thread.same + only(thread, &Difference::only_a), a.size());
    EXPECT_EQ(thread.same + only(thread, &Difference::only_b), b.size());
    EXPECT_EQ(thread.differing_code, 0u);
    DiffOptions options;
    options.first = true;
    const DiffReport first = compare(*trace_of({a}, seed, 1), *trace_of({b}, seed, 1), options);
    EXPECT_EQ(first.threads.at(0).differences.size(), 1u);
  }
  EXPECT_GT(branches, 50u / kEach);
}

/// The loop's exit and the end of what is skipped behind it are a few steps apart.
TEST(Diff, ABranchRightBehindALoop) {
  const auto run = [](int rounds, bool skips) {
    Items out = {{0x401000, &nop()}};
    for (int i = 0; i < rounds; ++i) {
      out.push_back({0x401001, &nop()});
      out.push_back({0x401002, &jump_if()});
    }
    out.push_back({0x401008, &jump_if()});
    for (uint64_t i = skips ? 4 : 0; i < 34; ++i) out.push_back({0x40100e + i, &nop()});
    return out;
  };
  const DiffReport report = compare(*trace_of({run(2, true)}, 1, 1),
                                    *trace_of({run(7, false)}, 1, 1));
  const ThreadDiff& thread = report.threads.at(0);
  ASSERT_EQ(thread.differences.size(), 2u);
  EXPECT_EQ(thread.differences[0].kind, Difference::Kind::Loop);
  EXPECT_EQ(thread.differences[0].times_a, 2u);
  EXPECT_EQ(thread.differences[0].times_b, 7u);
  EXPECT_EQ(thread.differences[1].kind, Difference::Kind::Parts);
  EXPECT_EQ(thread.differences[1].only_a, 0u);
  EXPECT_EQ(thread.differences[1].only_b, 4u);
}

/// Two loops, and what is between and behind them. `ends` = false: the second one is never left.
Items two_loops(int first, int second, bool ends = true) {
  Items out;
  const auto code = [&](uint64_t pc, int count) {
    for (int i = 0; i < count; ++i) out.push_back({pc + static_cast<uint64_t>(i), &nop()});
  };
  const auto loop = [&](uint64_t pc, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      code(pc, 3);
      out.push_back({pc + 3, &jump_if()});
    }
  };
  code(0x401000, 20);
  loop(0x401100, first);
  code(0x401200, 40);
  loop(0x401300, second);
  if (ends) code(0x401400, 40);
  return out;
}

/// An exit needs no window: it is waited for.
TEST(Diff, LoopsThatAreLongerThanTheWindow) {
  DiffOptions options;
  options.window = 64;
  const auto a = trace_of({two_loops(5, 40000)}, 1, 1), b = trace_of({two_loops(30000, 7)}, 1, 1);
  const DiffReport report = compare(*a, *b, options);
  const ThreadDiff& thread = report.threads.at(0);
  ASSERT_EQ(thread.differences.size(), 2u);
  const Difference& first = thread.differences[0];
  EXPECT_EQ(first.kind, Difference::Kind::Loop);
  EXPECT_TRUE(first.exact);
  EXPECT_EQ(first.times_a, 5u);
  EXPECT_EQ(first.times_b, 30000u);
  EXPECT_EQ(first.only_a, 0u);
  EXPECT_EQ(first.only_b, 29995u * 4);
  EXPECT_EQ(first.meet_a->pc, 0x401200u);
  EXPECT_EQ(first.meet_b->seq, 20u + 30000u * 4);
  const Difference& second = thread.differences[1];
  EXPECT_EQ(second.times_a, 40000u);
  EXPECT_EQ(second.times_b, 7u);
  EXPECT_TRUE(second.exact);
  EXPECT_EQ(second.only_a, 39993u * 4);
  EXPECT_EQ(thread.same, 20u + 5 * 4 + 40 + 7 * 4 + 40);
  EXPECT_FALSE(thread.given_up);
  options.ignore_loops = true;
  EXPECT_TRUE(compare(*a, *b, options).same());
}

TEST(Diff, HowFarWasLookedForTheOtherRun) {
  DiffOptions options;
  options.window = 64;
  const auto a = trace_of({two_loops(5, 7)}, 1, 1);
  const auto b = trace_of({two_loops(5, 40000, false)}, 1, 1);
  const DiffReport report = compare(*a, *b, options);
  ASSERT_EQ(report.threads.at(0).differences.size(), 1u);
  EXPECT_EQ(report.threads[0].differences[0].kind, Difference::Kind::Parts);
  EXPECT_TRUE(report.threads[0].given_up);
  EXPECT_EQ(report.threads[0].given_up_after, 64u);
  options.window = 1 << 20;
  EXPECT_TRUE(compare(*a, *b, options).threads.at(0).given_up);
  EXPECT_EQ(compare(*a, *b, options).threads.at(0).given_up_after, 0u);
}

TEST(Diff, OneMayEndBeforeTheOther) {
  const RandomProgram program(3, 40);
  Decisions decisions{3};
  const Items a = run_of(program, decisions, kBases);
  const Items b = run_of(program, decisions, kOtherBases);
  for (const size_t cut : {size_t{1}, a.size() / 2, a.size() - 1}) {
    SCOPED_TRACE(cut);
    const auto whole = trace_of({a}, 1, 1);
    const auto begin = trace_of({Items(b.begin(), b.begin() + static_cast<ptrdiff_t>(cut))}, 1, 1);
    const DiffReport report = compare(*whole, *begin);
    ASSERT_EQ(report.threads.at(0).differences.size(), 1u);
    const Difference& one = report.threads[0].differences[0];
    EXPECT_EQ(one.kind, Difference::Kind::Ends);
    EXPECT_FALSE(one.b);
    EXPECT_EQ(one.a->seq, cut);
    EXPECT_EQ(one.only_a, a.size() - cut);
    // What is missing in front is found, too.
    const auto end = trace_of({Items(b.begin() + static_cast<ptrdiff_t>(cut), b.end())}, 1, 1);
    const DiffReport later = compare(*whole, *end);
    const ThreadDiff& thread = later.threads.at(0);
    EXPECT_GT(thread.same, 0u);
    EXPECT_EQ(thread.same + only(thread, &Difference::only_a), a.size());
    EXPECT_EQ(thread.same + only(thread, &Difference::only_b), a.size() - cut);
  }
}

TEST(Diff, AThreadThatIsNotThere) {
  const RandomProgram program(4, 20);
  Decisions decisions{4};
  const Items a = run_of(program, decisions, kBases);
  const DiffReport report = compare(*trace_of({a, a}, 1, 1), *trace_of({a}, 1, 1));
  ASSERT_EQ(report.threads.size(), 2u);
  EXPECT_TRUE(report.threads[0].differences.empty());
  EXPECT_FALSE(report.threads[1].tid_b);
  EXPECT_FALSE(report.same());
  EXPECT_TRUE(compare(*trace_of({Items()}, 1, 1), *trace_of({Items()}, 1, 1)).same());
}

TEST(Diff, RunsThatHaveNothingInCommon) {
  const RandomProgram one(10, 60), other(11, 60);
  Decisions decisions{1};
  Items a = run_of(one, decisions, kBases), b = run_of(other, decisions, kOtherBases);
  for (ProgramRun::Item& item : b) item.pc += 0x800000 + 7;
  const DiffReport report = compare(*trace_of({a}, 1, 1), *trace_of({b}, 1, 1));
  EXPECT_FALSE(report.same());
  const ThreadDiff& thread = report.threads.at(0);
  EXPECT_EQ(thread.same + only(thread, &Difference::only_a), a.size());
  EXPECT_EQ(thread.same + only(thread, &Difference::only_b), b.size());
}

/// Hands out `count` places, then ends or fails.
class CountingFlow final : public StepFlow {
 public:
  CountingFlow(uint64_t count, bool fails) : count_(count), fails_(fails) {}
  Result<bool> next(std::vector<Place>& places) override {
    if (at_ == count_ && fails_) return Error{Errc::Io, "gone", {}};
    if (at_ == count_) return false;
    const uint64_t end = std::min(count_, at_ + 1000);
    for (; at_ < end; ++at_) places.push_back({at_ * 3, 1, at_, {}});
    return true;
  }

 private:
  uint64_t count_, at_ = 0;
  bool fails_;
};

TEST(ReadAhead, TellsTheSame) {
  for (const uint64_t count : {0, 1, 1000, 100001, 300000}) {
    for (const bool fails : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", count, fails));
      const auto flow = read_ahead(std::make_unique<CountingFlow>(count, fails));
      std::vector<Place> places;
      Result<bool> more = true;
      while (more.ok() && *more) more = flow->next(places);
      EXPECT_EQ(more.ok(), !fails);
      ASSERT_EQ(places.size(), count);
      for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(places[i].pc, 3 * i);
    }
  }
}

TEST(ReadAhead, MayBeLeftEarly) {
  for (int i = 0; i < 50; ++i) {
    const auto flow = read_ahead(std::make_unique<CountingFlow>(1000000, false));
    std::vector<Place> places;
    if (i % 2 == 0) {
      EXPECT_TRUE(*flow->next(places));
    }
  }
}

/// Long enough for another thread, and for what is forgotten on the way.
TEST(Diff, LongRuns) {
  const RandomProgram program(12, 40);
  Decisions decisions{12}, changed{12};
  const Items once = run_of(program, decisions, kBases);
  const Items moved = run_of(program, changed, kOtherBases);
  Items a, b;
  while (a.size() < 400000) {
    a.insert(a.end(), once.begin(), once.end());
    b.insert(b.end(), moved.begin(), moved.end());
  }
  b.erase(b.begin() + 350000, b.begin() + 350003);
  const DiffReport report = compare(*trace_of({a}, 1, 1), *trace_of({b}, 1, 1));
  const ThreadDiff& thread = report.threads.at(0);
  ASSERT_EQ(thread.differences.size(), 1u);
  const Difference& one = thread.differences[0];
  EXPECT_LE(one.a->seq, 350000u);
  EXPECT_GT(one.a->seq, 349990u);
  EXPECT_EQ(one.only_a, 3u);
  EXPECT_EQ(one.only_b, 0u);
  EXPECT_EQ(thread.same, a.size() - 3);
}

}  // namespace
}  // namespace tracewell::timeline::test
