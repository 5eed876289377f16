// A trace of x64dbg's against itself with bytes cut out: steps are missing, and nothing differs.
// Numbers of steps are in what they read, of which diff takes no notice.
// TRACEWELL_LONG=1: many more cuts.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/endian.h"
#include "formats/trace64/model.h"
#include "sanitized.h"
#include "timeline/diff/diff.h"
#include "timeline/diff_runs.h"

namespace tracewell::formats::test {
namespace {

#ifdef TRACEWELL_SANITIZED
constexpr uint32_t kSeeds = 12;
#else
constexpr uint32_t kSeeds = 60;
#endif

uint32_t seeds() { return std::getenv("TRACEWELL_LONG") != nullptr ? 20 * kSeeds : kSeeds; }

using timeline::Difference;
using timeline::DiffReport;

/// Threads that run one program with loops, calls and branches over and over. A third of its
/// instructions change no register, so that some loops wait without changing anything.
class Loops {
 public:
  Loops(uint32_t seed, uint32_t threads, size_t steps)
      : random_(seed), program_(seed % 7, 12), threads_(threads) {
    for (uint32_t i = 0; i < threads; ++i) {
      threads_[i].now.tid = 4000 + 4 * i;
      threads_[i].now.words.resize(172);
      threads_[i].now.words[4] = 0x7ff000 + 0x100000 * i;
    }
    while (moments_.size() <= steps) {
      Thread& thread = threads_[random_() % threads];
      for (uint64_t n = 1 + random_() % 40; n > 0; --n) step(thread);
    }
  }
  std::string bytes() const { return kHead64 + record(moments_, {}); }

 private:
  struct Thread {
    Moment now;
    timeline::test::Items items;
    size_t at = 0;
    uint64_t rounds = 0, changes = 0;
  };

  void step(Thread& thread) {
    if (thread.at == thread.items.size()) {
      timeline::test::Decisions decisions{thread.now.tid * 1000 + thread.rounds++};
      const std::vector<uint64_t> bases = {0x140000000, 0x7ff800000000, 0x7ff810000000};
      thread.items = timeline::test::ProgramRun(program_, decisions, bases).items;
      thread.at = 0;
    }
    const auto& item = thread.items[thread.at++];
    Moment& now = thread.now;
    now.words[16] = item.pc;
    now.opcode.assign(item.code->begin(), item.code->end());
    now.entries = {{0x1000, moments_.size(), std::nullopt, 0}};
    moments_.push_back(now);
    if (now.opcode == "\xc3") now.words[4] += 8;
    if (now.opcode[0] == '\xff') now.words[4] -= 8;
    const uint64_t kind = item.pc * 0x9e3779b97f4a7c15 >> 40;
    if (kind % 3 != 0) now.words[kind % 4] = ++thread.changes * 0x9e3779b97f4a7c15;
  }

  std::mt19937_64 random_;
  timeline::test::RandomProgram program_;
  std::vector<Thread> threads_;
  std::vector<Moment> moments_;
};

/// The steps of a file: thread, place, and what was read, as far as that is told.
struct Steps {
  using Key = std::tuple<uint64_t, uint64_t, std::string>;
  std::vector<Key> keys;
  std::set<uint64_t> lost;  // in front of these

  explicit Steps(Source& source) {
    Batch batch;
    while (*source.next(batch))
      for (const Event& event : batch.events()) {
        if (std::holds_alternative<Lost>(event.body)) lost.insert(event.seq);
        const auto* step = std::get_if<Step>(&event.body);
        if (step == nullptr) continue;
        std::string read;
        for (const auto& one : step->memory) read += std::string(as_text(one.old_bytes));
        keys.emplace_back(event.tid, step->pc, std::move(read));
      }
  }
};

/// What a cut leaves may look like blocks, and no reader can tell: false. The step in front of a
/// hole may be garbage.
bool is_told(const Steps& whole, const Steps& cut) {
  size_t expected = 0;
  for (size_t i = 0; i < cut.keys.size(); ++i) {
    const auto from = whole.keys.begin() + static_cast<ptrdiff_t>(expected);
    const bool lost = cut.lost.contains(i);
    const auto to = lost ? whole.keys.end() : std::min(from + 1, whole.keys.end());
    const auto found = std::find(from, to, cut.keys[i]);
    if (found != to)
      expected = static_cast<size_t>(found - whole.keys.begin()) + 1;
    else if (!cut.lost.contains(i + 1))
      return false;
  }
  return expected == whole.keys.size() || cut.lost.contains(cut.keys.size());
}

std::string with_cuts(const std::string& bytes, unsigned cuts, std::mt19937_64& random) {
  std::string out = bytes;
  const size_t head = 8 + load_uint(as_bytes(bytes).data() + 4, 4, Endian::Little);
  for (; cuts > 0; --cuts) {
    const size_t size = 1 + random() % 300;
    out.erase(head + random() % (out.size() - head - size), size);
  }
  return out;
}

DiffReport diffed(const Opened& a, const Opened& b) {
  auto report = timeline::diff({*a.source->steps(), a.source->catalog()},
                               {*b.source->steps(), b.source->catalog()}, {});
  EXPECT_TRUE(report.ok());
  return report.ok() ? *std::move(report) : DiffReport{};
}

uint64_t same_steps(const DiffReport& report) {
  return std::accumulate(report.threads.begin(), report.threads.end(), uint64_t{0},
                         [](uint64_t sum, const auto& one) { return sum + one.same; });
}

struct Seen {
  unsigned told = 0, untold = 0, holes = 0;
};

void compare(const std::string& bytes, uint32_t seed, Seen& seen) {
  std::mt19937_64 random(seed);
  const Opened whole(bytes, "trace64"), one(with_cuts(bytes, 1 + seed % 4, random), "trace64"),
      other(with_cuts(bytes, 1 + seed % 3, random), "trace64");
  ASSERT_TRUE(whole.source && one.source && other.source);
  const Steps all(*whole.source), of_one(*one.source), of_other(*other.source);
  const bool told = is_told(all, of_one), told_other = is_told(all, of_other);
  seen.told += told;
  seen.untold += !told;
  if (told) {
    for (const bool swapped : {false, true}) {
      SCOPED_TRACE(swapped ? "cut against whole" : "whole against cut");
      const DiffReport report = swapped ? diffed(one, whole) : diffed(whole, one);
      EXPECT_TRUE(report.same() || report.undecided());
      EXPECT_EQ(report.same(), of_one.lost.empty());
      EXPECT_GE(same_steps(report) + of_one.lost.size(), of_one.keys.size());
      for (const auto& thread : report.threads) seen.holes += thread.differences.size() != 0;
    }
  }
  if (told && told_other) {
    SCOPED_TRACE("cut against cut");
    const DiffReport report = diffed(one, other);
    EXPECT_TRUE(report.same() || report.undecided());
    EXPECT_EQ(report.same(), of_one.lost.empty() && of_other.lost.empty());
  }
  if (!of_one.lost.empty()) {
    SCOPED_TRACE("cut against itself");
    EXPECT_FALSE(diffed(one, one).same());
  }
}

TEST(DiffCuts, LoopsDoNotDifferFromThemselves) {
  Seen seen;
  for (uint32_t seed = 0; seed < seeds(); ++seed) {
    SCOPED_TRACE(seed);
    compare(Loops(seed, seed % 2 == 0 ? 1 : 3, 3000 + seed % 5 * 700).bytes(), seed, seen);
  }
  EXPECT_GT(seen.told, 2 * seen.untold);
  EXPECT_GT(seen.holes, seen.told);
}

TEST(DiffCuts, SamplesDoNotDifferFromThemselves) {
  Seen seen;
  for (const std::string name : {"single", "threads_fixed", "threads_tidbug"})
    for (uint32_t seed = 0; seed < seeds() / 2; ++seed) {
      SCOPED_TRACE(name + " " + std::to_string(seed));
      compare(sample("synthetic_" + name), seed, seen);
    }
  EXPECT_GT(seen.told, 4 * seen.untold);
  EXPECT_GT(seen.holes, seen.told);
}

}  // namespace
}  // namespace tracewell::formats::test
