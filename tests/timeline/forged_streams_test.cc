// Streams of an index that somebody wrote by hand, where skips lead to what they should not: a
// question ends as soon as one of sound streams does, and the index is damaged.
#include <atomic>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/varint.h"
#include "sanitized.h"
#include "timeline/calls/transfers.h"
#include "timeline/index/sums.h"
#include "timeline/memory/cell_history.h"
#include "timeline/memory/openings.h"
#include "timeline/streams/byte_chains.h"
#include "timeline/streams/postings.h"

namespace tracewell::timeline::test {
namespace {

using StreamBytes = std::vector<uint8_t>;
// Seconds; each of these took a minute and more. Where threads are watched, all takes ten times as
// long.
#ifdef TRACEWELL_WATCHES_THREADS
constexpr double kSoon = 50;
#else
constexpr double kSoon = 5;
#endif
constexpr size_t kCellSkip = 21;

/// Told of damage in a stream, which it outlives.
class Forged {
 public:
  explicit Forged(StreamBytes bytes, uint32_t first = 0)
      : bytes_(std::move(bytes)), sums_(bytes_, {}, damaged_), stream_{first, bytes_, &sums_} {}
  const Stream& stream() const { return stream_; }
  bool damaged() const { return *damaged_; }

 private:
  StreamBytes bytes_;
  std::shared_ptr<std::atomic<bool>> damaged_ = std::make_shared<std::atomic<bool>>(false);
  Sums sums_;
  Stream stream_;
};

double processor_time() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// How long others keep the processor is not the work's.
double time_of(const std::function<void()>& work) {
  const double begin = processor_time();
  work();
  return processor_time() - begin;
}

/// What a cell tells that `accesses[i]` reads touch in step i, each of another content.
StreamBytes cell_of(const std::vector<size_t>& accesses) {
  ByteChains chains;
  CellLog log;
  CellAccess access;
  access.size = 8;
  for (uint32_t step = 0; step < accesses.size(); ++step)
    for (size_t i = 0; i < accesses[step]; ++i) {
      access.step = step;
      access.old_value = step + i;
      log.add(chains, access);
    }
  StreamBytes scratch, out;
  Segment segment;
  log.finish(chains, SegmentOpenings(segment), scratch, out);
  return out;
}

size_t steps_with_content(const CellHistory& cell, size_t steps) {
  size_t found = 0;
  for (uint64_t step = 0; step < steps; ++step)
    found += cell.content_before(step, 0, std::nullopt).known == 255 ? 1 : 0;
  return found;
}

/// Every other skip leads behind all entries, the others in front of them.
StreamBytes to_and_fro(size_t skips, size_t entries) {
  StreamBytes out = {0x80 | 7};
  append_varint(out, skips);
  ByteWriter writer(out, Endian::Little);
  for (size_t i = 0; i < skips; ++i) {
    for (const uint64_t value : {uint64_t{0}, uint64_t{i % 2 == 0 ? 2 * entries : 0}})
      writer.uint(value, 4);
    out.resize(out.size() + 12);
    out.push_back(7);
  }
  out.resize(out.size() + 2 * entries);
  return out;
}

TEST(ForgedCellSkips, LeadToAndFro) {
  const std::vector<std::function<void(const CellHistory&)>> questions = {
      [](const CellHistory& cell) { EXPECT_FALSE(cell.next(1, 255, CellAccess::kBoth)); },
      [](const CellHistory& cell) { EXPECT_FALSE(cell.last(9, 255, CellAccess::kFoundChanged)); },
      [](const CellHistory& cell) { EXPECT_FALSE(cell.last_told(9, 1)); },
      [](const CellHistory& cell) {
        cell.each(1, 1000, 255, CellAccess::kBoth, [](uint32_t) { ADD_FAILURE(); });
      },
  };
  for (const auto& ask : questions) {
    const Forged forged(to_and_fro(50000, 1000000));
    EXPECT_LT(time_of([&] { ask(CellHistory(forged.stream())); }), kSoon);
    EXPECT_TRUE(forged.damaged());
  }
}

// Where a search looks, all skips stand behind the last step: each question began in front.
TEST(ForgedCellSkips, MisleadASearch) {
  constexpr size_t kSteps = 150000;
  StreamBytes bytes = cell_of(std::vector<size_t>(kSteps, 1));
  const Forged sound(bytes);
  EXPECT_EQ(steps_with_content(CellHistory(sound.stream()), kSteps), kSteps);
  EXPECT_FALSE(sound.damaged());
  Cursor in{Bytes(bytes).subspan(1)};
  const uint64_t skips = in.varint();
  const size_t at = bytes.size() - in.left();
  for (uint64_t high = skips; high > 0; high /= 2)
    store_uint(bytes.data() + at + high / 2 * kCellSkip, UINT32_MAX, 4, Endian::Little);
  const Forged forged(bytes);
  const CellHistory cell(forged.stream());
  EXPECT_LT(time_of([&] { steps_with_content(cell, kSteps); }), kSoon);
  EXPECT_TRUE(forged.damaged());
  const Forged other(bytes);
  CellContent content;
  EXPECT_LT(time_of([&] {
              for (uint64_t step = 0; step < kSteps; ++step)
                CellHistory(other.stream()).fill_back(step, step + 1, std::nullopt, 255, content);
            }),
            kSoon);
  EXPECT_TRUE(other.damaged());
}

// The number of skips of such a cell was one for each 64 steps, however much these do.
TEST(ForgedCellSkips, StepsOfManyAccesses) {
  constexpr size_t kMany = 300000;
  std::vector<size_t> accesses(64, 1);
  accesses[1] = kMany;
  const Forged sound(cell_of(accesses));
  const CellHistory cell(sound.stream());
  EXPECT_LT(time_of([&] {
              for (size_t i = 0; i < 20000; ++i)
                EXPECT_EQ(cell.content_before(2 + i % 62, 0, std::nullopt).known, 255);
            }),
            kSoon);
  EXPECT_EQ(cell.content_before(1, 0, std::nullopt).value, 1u);
  EXPECT_EQ(cell.content_before(2, 0, std::nullopt, false).value, 1u);
  EXPECT_FALSE(sound.damaged());
  // The last step of all may be such a one.
  accesses.resize(2);
  const Forged last(cell_of(accesses));
  const CellHistory cell_of_last(last.stream());
  EXPECT_LT(time_of([&] {
              for (size_t i = 0; i < 20000; ++i)
                EXPECT_EQ(cell_of_last.content_before(2 + i, 0, std::nullopt).value, 1u);
            }),
            kSoon);
  EXPECT_EQ(cell_of_last.last(9, 255, CellAccess::kRead), 1u);
  EXPECT_EQ(cell_of_last.last_told(9, 1)->step, 1u);
  EXPECT_FALSE(last.damaged());
  // No build makes it without skips.
  StreamBytes bytes = cell_of({1});
  for (size_t i = 0; i < kMany; ++i) bytes.insert(bytes.end(), {1, 0});
  const Forged forged(bytes);
  EXPECT_FALSE(CellHistory(forged.stream()).content_before(1, 0, std::nullopt).known);
  EXPECT_TRUE(forged.damaged());
}

TEST(ForgedCellEntries, GoBack) {
  StreamBytes bytes = {1, 1};  // a read, and another one
  append_varint(bytes, UINT64_MAX - 2);
  const Forged forged(bytes, 7);
  CellHistory::Walk walk = CellHistory(forged.stream()).start();
  EXPECT_TRUE(walk.read());
  while (walk.read()) EXPECT_GT(walk.step(), 7u);
  EXPECT_TRUE(forged.damaged());
}

StreamBytes postings_of(size_t skips, uint64_t number, uint64_t offset, const StreamBytes& pairs) {
  StreamBytes out;
  append_varint(out, skips);
  if (skips != 0) append_varint(out, 100);
  ByteWriter writer(out, Endian::Little);
  for (size_t i = 0; i < skips; ++i)
    for (const uint64_t value : {number, offset, uint64_t{0}}) writer.uint(value, 4);
  out.insert(out.end(), pairs.begin(), pairs.end());
  return out;
}

TEST(ForgedPostingSkips, LeadBehindAllPairs) {
  for (const uint64_t offset : {uint64_t{2}, uint64_t{UINT32_MAX}}) {
    const Forged forged(postings_of(500000, 0, offset, {2, 2}));
    const Postings list(forged.stream());
    EXPECT_LT(time_of([&] { for (uint64_t i = 0; i < 20000; ++i) list.last(i + 1); }), kSoon);
    EXPECT_TRUE(forged.damaged());
  }
}

TEST(ForgedPostingSkips, AreNone) {
  constexpr size_t kPairs = 300000;
  const StreamBytes pairs(kPairs, 2);
  const std::vector<std::function<void(const Postings&, uint64_t)>> questions = {
      [](const Postings& list, uint64_t i) { list.next(2 * kPairs - 10 + i % 8); },
      [](const Postings& list, uint64_t) { list.last(2 * kPairs - 10); },
      [](const Postings& list, uint64_t) {
        list.runs(2 * kPairs - 10, [](uint64_t, uint64_t) { return false; });
      },
      [](const Postings& list, uint64_t) { list.count(); },
  };
  for (const size_t skips : {0, 1})
    for (size_t which = 0; which < questions.size(); ++which) {
      if (skips == 1 && which == 3) continue;  // the count reads no more than the skips
      const Forged forged(postings_of(skips, UINT32_MAX, kPairs, pairs));
      const Postings list(forged.stream());
      EXPECT_LT(time_of([&] {
                  for (uint64_t i = 0; i < 20000; ++i) questions[which](list, i);
                }),
                kSoon);
      EXPECT_TRUE(forged.damaged()) << skips << " skips, question " << which;
    }
}

TEST(ForgedTransfers, ManyInOneStep) {
  const StreamBytes bytes = transfer_stream(std::vector<Transfer>(200, {5, true, 1, 0}));
  std::vector<Transfer> out;
  EXPECT_FALSE(Transfers({5, bytes}).read(0, out));
}

}  // namespace
}  // namespace tracewell::timeline::test
