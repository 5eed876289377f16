// Traces that lack steps: what is missing is no difference of the runs.
#include <gtest/gtest.h>

#include "sanitized.h"
#include "timeline/diff/diff.h"
#include "timeline/diff_runs.h"

namespace tracewell::timeline::test {
namespace {

using tracewell::test::kEach;

const std::vector<uint64_t> kHoledBases = {0x140000000, 0x7ff800000000, 0x7ff810000000};

/// A run without the `count` steps from `from` on, and a loss in their place. Those from `second`
/// on are another thread's.
std::unique_ptr<StepStore> with_hole(const Items& items, size_t from, size_t count,
                                     uint64_t told, size_t second = SIZE_MAX) {
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.address_bytes = 8;
  catalog.registers = machine::x86_64_layout({});
  Batch batch;
  uint64_t seq = 0;
  for (size_t i = 0; i <= items.size(); ++i) {
    if (i == from && count != 0) {
      Event& event = batch.add();
      event.seq = seq;
      event.body = Lost{told, "a test"};
    }
    if (i == items.size() || (i >= from && i < from + count)) continue;
    Step step;
    step.pc = items[i].pc;
    step.opcode = *items[i].code;
    Event& event = batch.add();
    event.seq = seq++;
    event.tid = i < second ? 1 : 2;
    event.body = step;
  }
  tracewell::test::ListSource source(catalog, batch.events());
  auto store = StepStore::read(source);
  EXPECT_TRUE(store.ok());
  return std::move(*store);
}

DiffReport diffed(const StepStore& a, const StepStore& b) {
  auto report = diff({a, a.catalog()}, {b, b.catalog()}, {});
  EXPECT_TRUE(report.ok());
  return report.ok() ? *report : DiffReport{};
}

/// Without loops, and with no place executed twice: what is missing cannot be anywhere else.
TEST(DiffHoles, AHoleIsSaidAndIsNoParting) {
  Items items;
  for (uint64_t i = 0; i < 3000; ++i) items.push_back({kHoledBases[0] + 3 * i, &nop()});
  const auto whole = with_hole(items, 0, 0, 0);
  for (const size_t from : {0u, 1u, 700u, 2960u})
    for (const uint64_t told : {0u, 40u}) {
      const auto holed = with_hole(items, from, 40, told);
      for (const bool in_a : {true, false}) {
        SCOPED_TRACE(from);
        const DiffReport report = in_a ? diffed(*holed, *whole) : diffed(*whole, *holed);
        EXPECT_FALSE(report.same());
        EXPECT_TRUE(report.undecided());
        const ThreadDiff& thread = report.threads.at(0);
        EXPECT_EQ(thread.same, 2960u);
        ASSERT_EQ(thread.differences.size(), 1u);
        const Difference& one = thread.differences[0];
        EXPECT_EQ(one.kind, Difference::Kind::Missing);
        EXPECT_EQ(in_a ? one.only_b : one.only_a, 40u);
        EXPECT_EQ(in_a ? one.only_a : one.only_b, 0u);
        const auto& hole = in_a ? one.hole_a : one.hole_b;
        ASSERT_TRUE(hole);
        EXPECT_FALSE(in_a ? one.hole_b : one.hole_a);
        EXPECT_EQ(hole->seq, from);
        EXPECT_EQ(hole->count, told);
      }
    }
}

/// Whatever is cut out of a run, nothing is said to differ: loops, branches, calls.
TEST(DiffHoles, NoHoleOfAnyRunIsCalledADifference) {
  unsigned seen = 0, loops = 0, sure = 0;
  for (uint32_t seed = 0; seed < 300; seed += kEach) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed, 30);
    Decisions decisions{seed};
    const Items items = ProgramRun(program, decisions, kHoledBases).items;
    const size_t from = seed * 31 % items.size();
    const size_t count = std::min<size_t>(1 + seed % 20, items.size() - from);
    const auto whole = with_hole(items, 0, 0, 0), holed = with_hole(items, from, count, count);
    const DiffReport report = diffed(*whole, *holed);
    ASSERT_EQ(report.threads.size(), 1u);
    const auto& differences = report.threads[0].differences;
    if (differences.empty()) continue;  // the end of a loop's round, as it happens
    EXPECT_EQ(differences[0].kind, Difference::Kind::Missing);
    ++seen;
    loops += differences[0].times_a != 0;
    sure += !report.undecided();
  }
  EXPECT_GT(seen, 290u / kEach);
  if (kEach == 1) EXPECT_GT(loops, 2u);  // they are few
  EXPECT_EQ(sure, 0u) << "nor is anything behind the hole";
}

/// Where runs part in front of a hole they do part. Behind it, nobody knows without registers: the
/// steps may be of another round.
TEST(DiffHoles, APartingInFrontIsOne) {
  Items items, other;
  for (uint64_t i = 0; i < 3000; ++i) {
    items.push_back({kHoledBases[0] + 3 * i, &nop()});
    other.push_back({kHoledBases[0] + 3 * i + (i >= 2000 && i < 2100 ? 0x100000 : 0), &nop()});
  }
  for (const size_t from : {500u, 2500u}) {
    const DiffReport report = diffed(*with_hole(items, from, 40, 0), *with_hole(other, 0, 0, 0));
    const bool behind = from == 500;
    EXPECT_EQ(report.undecided(), behind);
    ASSERT_EQ(report.threads[0].differences.size(), 2u);
    EXPECT_EQ(report.threads[0].undecided, behind ? 2u : 1u);
    EXPECT_EQ(report.threads[0].differences[0].kind,
              behind ? Difference::Kind::Missing : Difference::Kind::Parts);
    EXPECT_EQ(report.threads[0].differences[1].kind, Difference::Kind::Missing);
  }
}

/// The end of one is missing just behind the other's end, and nobody knows whether it went on.
TEST(DiffHoles, ALoneHoleBehindTheEndIsSaid) {
  Items items;
  for (uint64_t i = 0; i < 500; ++i) items.push_back({kHoledBases[0] + 3 * i, &nop()});
  const auto cut = with_hole(items, 400, 100, 0);
  items.resize(400);
  const auto whole = with_hole(items, 0, 0, 0);
  for (const bool in_a : {true, false}) {
    const DiffReport report = in_a ? diffed(*cut, *whole) : diffed(*whole, *cut);
    EXPECT_TRUE(report.undecided());
    ASSERT_EQ(report.threads.at(0).differences.size(), 1u);
    const Difference& one = report.threads[0].differences[0];
    ASSERT_TRUE(in_a ? one.hole_a : one.hole_b);
    EXPECT_FALSE(in_a ? one.hole_b : one.hole_a);
    EXPECT_EQ((in_a ? one.hole_a : one.hole_b)->seq, 400u);
  }
  const DiffReport both = diffed(*cut, *cut);
  EXPECT_TRUE(both.undecided()) << "who knows how they went on?";
  EXPECT_TRUE(both.threads.at(0).both_cut);
  EXPECT_FALSE(diffed(*whole, *whole).threads.at(0).both_cut);
}

/// Both lack steps at the same place, be it as many: nobody knows that they are the same ones.
TEST(DiffHoles, HolesOfBothAreNotTheSame) {
  Items items;
  for (uint64_t i = 0; i < 500; ++i) items.push_back({kHoledBases[0] + 3 * i, &nop()});
  for (const size_t from : {0u, 1u, 200u, 499u, 500u})
    for (const uint64_t told : {0u, 7u})
      for (const uint64_t other : {7u, 9u}) {
        SCOPED_TRACE(std::to_string(from) + ": " + std::to_string(told) + " | " +
                     std::to_string(other));
        const size_t count = from == 500 ? 1 : std::min<size_t>(40, 500 - from);
        const auto a = with_hole(items, from, count, told, 300);
        const auto b = with_hole(items, from, count, other, 300);
        const DiffReport report = diffed(*a, *b);
        EXPECT_FALSE(report.same());
        EXPECT_TRUE(report.undecided());
        ASSERT_TRUE(report.missing_a && report.missing_b);
        EXPECT_EQ(report.missing_a->seq, from);
        EXPECT_EQ(report.missing_a->count, told);
        EXPECT_EQ(report.missing_b->seq, from);
        EXPECT_EQ(report.missing_b->count, other);
        uint64_t same = 0, told_of = 0;
        for (const ThreadDiff& thread : report.threads) {
          same += thread.same;
          for (const Difference& one : thread.differences) {
            EXPECT_EQ(one.kind, Difference::Kind::Missing);
            EXPECT_FALSE(one.a || one.b) << "all that is there is the same";
            told_of += one.hole_a && one.hole_b;
          }
        }
        EXPECT_EQ(same, a->count());
        EXPECT_GE(told_of, 1u);
      }
}

/// --first goes on where all that is there is the same.
TEST(DiffHoles, TheFirstDifferenceIsNoHoleOfBoth) {
  Items items, other;
  for (uint64_t i = 0; i < 500; ++i) {
    items.push_back({kHoledBases[0] + 3 * i, &nop()});
    other.push_back({kHoledBases[0] + 3 * i + (i >= 420 ? 0x100000 : 0), &nop()});
  }
  // The hole is thread 1's, and thread 2 parts.
  const auto a = with_hole(items, 200, 40, 7, 400), b = with_hole(other, 200, 40, 7, 400);
  DiffOptions options;
  options.first = true;
  const auto report = diff({*a, a->catalog()}, {*b, b->catalog()}, options);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->threads.size(), 2u);
  EXPECT_FALSE(report->left_out);
  EXPECT_TRUE(report->undecided()) << "the beginning of thread 2 may be missing";
  ASSERT_EQ(report->threads[1].differences.size(), 1u);
  EXPECT_TRUE(report->threads[1].differences[0].a && report->threads[1].differences[0].b);
}

/// A thread that had not begun where the trace was cut may have come later.
TEST(DiffHoles, AThreadMayBeInWhatIsMissing) {
  Items items;
  for (uint64_t i = 0; i < 500; ++i)
    items.push_back({kHoledBases[0] + 3 * i, &nop()});
  const auto whole = with_hole(items, 0, 0, 0, 300), cut = with_hole(items, 250, 250, 0, 300);
  items.resize(250);
  const auto shorter = with_hole(items, 0, 0, 0);
  for (const bool in_a : {true, false}) {
    const DiffReport report = in_a ? diffed(*cut, *whole) : diffed(*whole, *cut);
    EXPECT_TRUE(report.undecided());
    ASSERT_EQ(report.threads.size(), 2u);
    const ThreadDiff& absent = report.threads[1];
    EXPECT_EQ(absent.tid_a.has_value(), !in_a);
    ASSERT_EQ(absent.differences.size(), 1u);
    const auto& hole = in_a ? absent.differences[0].hole_a : absent.differences[0].hole_b;
    ASSERT_TRUE(hole);
    EXPECT_EQ(hole->seq, 250u);
  }
  EXPECT_FALSE(diffed(*shorter, *whole).undecided());
}

/// What has eaten the end may have made up the thread of the last step that is there.
TEST(DiffHoles, AThreadOfTheLastStepInFrontOfTheEndProvesNothing) {
  Items items;
  for (uint64_t i = 0; i < 500; ++i) items.push_back({kHoledBases[0] + 3 * i, &nop()});
  const auto whole = with_hole(items, 0, 0, 0);
  const auto cut = with_hole(items, 400, 100, 0, 399), ends = with_hole(items, 0, 0, 0, 499);
  for (const bool in_a : {true, false}) {
    const DiffReport report = in_a ? diffed(*cut, *whole) : diffed(*whole, *cut);
    EXPECT_TRUE(report.undecided());
    EXPECT_FALSE((in_a ? diffed(*ends, *whole) : diffed(*whole, *ends)).undecided());
  }
}

/// What has eaten steps may have bitten into the one in front of them.
TEST(DiffHoles, TheStepInFrontOfAHoleProvesNothing) {
  Items items;
  for (uint64_t i = 0; i < 500; ++i) items.push_back({kHoledBases[0] + 3 * i, &nop()});
  const auto whole = with_hole(items, 0, 0, 0);
  items[299].pc = 0;
  for (const size_t from : {300u, 301u}) {
    const DiffReport report = diffed(*whole, *with_hole(items, from, 40, 0));
    ASSERT_FALSE(report.threads.at(0).differences.empty());
    const Difference& one = report.threads[0].differences[0];
    EXPECT_EQ(one.branch_a->seq, 298u);
    const bool bitten = from == 300;
    EXPECT_EQ(one.kind, bitten ? Difference::Kind::Missing : Difference::Kind::Parts);
    EXPECT_EQ(report.undecided(), bitten);
  }
}

}  // namespace
}  // namespace tracewell::timeline::test
