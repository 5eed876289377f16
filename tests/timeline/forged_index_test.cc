// Indices that somebody wrote by hand: their sums and hashes are right, and no build has made what
// is in them. They may be thrown away, and cost no more than their size and the trace's.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/varint.h"
#include "timeline/calls/call_marks.h"
#include "timeline/calls/call_tree.h"
#include "timeline/memory/cell_history.h"
#include "timeline/naive.h"
#include "timeline/random_steps.h"
#include "timeline/search.h"
#include "timeline/stand_in.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

using Stuff = std::vector<uint8_t>;

Stuff in_one(const Pieces& pieces) {
  Stuff out;
  for (const Stuff& piece : pieces) out.insert(out.end(), piece.begin(), piece.end());
  return out;
}

Stuff varints(std::initializer_list<uint64_t> values) {
  Stuff out;
  for (const uint64_t value : values) append_varint(out, value);
  return out;
}

/// All numbers from the stream's first one.
Stuff run_of(uint64_t count) { return varints({0, 1, count - 2}); }

/// A table of `keys`, all with one stream.
Stuff table_of(const std::vector<uint64_t>& keys, const Stuff& stream) {
  StreamTableWriter table;
  for (const uint64_t key : keys) table.add(key, {0, stream});
  return in_one(table.finish());
}

std::vector<uint64_t> first_keys(uint64_t count) {
  std::vector<uint64_t> out(count);
  for (uint64_t i = 0; i < count; ++i) out[i] = i;
  return out;
}

constexpr size_t kGroup = 32, kHeadBytes = 13;  // of tables

/// Where a table's heads begin, of which there are some.
size_t heads_at(const Stuff& table) {
  Cursor in{Bytes(table)};
  in.varint();
  return table.size() - in.left();
}

/// Where the second group lies, and a table whose groups are told to lie there, but for the first.
uint64_t second_group(const Stuff& table) {
  return load_uint(table.data() + heads_at(table) + kHeadBytes + 8, 5, Endian::Little);
}
Stuff piled_up(Stuff table, uint64_t keys, uint64_t where) {
  for (size_t i = 1; i < (keys + kGroup - 1) / kGroup; ++i)
    store_uint(table.data() + heads_at(table) + i * kHeadBytes + 8, where, 5, Endian::Little);
  return table;
}

struct ForgedSegment {
  uint64_t count = 0;
  std::array<Stuff, kParts> parts;
  Stuff seams;
  void set(Part part, Stuff table) { parts[static_cast<size_t>(part)] = std::move(table); }
};

class ForgedIndex : public testing::Test {
 protected:
  static constexpr uint64_t kSteps = 4000;
  static constexpr uint64_t kHolePage = 4096;

  ForgedIndex() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    options_.sidecar = (folder_ / "run.tidx").string();
    options_.trace_file = stand_in(folder_ / "run");
    options_.build.segment_steps = 500;
    options_.build.workers = 1;
    std::mt19937 random(1);
    for (int i = 0; i < 40000; ++i) file_.push_back(static_cast<uint8_t>(random()));
    tracewell::test::ListSource source(trace_.catalog, trace_.events());
    store_ = *StepStore::read(source);
  }
  ~ForgedIndex() override { std::filesystem::remove_all(folder_); }

  /// Of the trace, when it was shorter.
  TraceIdentity identity() const {
    return TraceIdentity::of(Bytes(file_).first(file_.size() - shorter_by_), 0);
  }
  Stuff finished(Stuff bytes, const std::vector<SegmentPlace>& places) const {
    const Stuff directory = make_directory(places, bytes.size(), {});
    const Stuff header = make_header(identity(), bytes.size(), directory);
    std::copy(header.begin(), header.end(), bytes.begin());
    bytes.insert(bytes.end(), directory.begin(), directory.end());
    return bytes;
  }
  static void put(Stuff& bytes, const Stuff& part, bool with_sums) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    SumWriter sums;
    sums.add(part);
    const Stuff told = sums.finish();
    if (with_sums) bytes.insert(bytes.end(), told.begin(), told.end());
  }
  Stuff forge(const std::vector<ForgedSegment>& segments) const {
    Stuff bytes(kIndexHeaderBytes);
    std::vector<SegmentPlace> places;
    for (const ForgedSegment& one : segments) {
      SegmentPlace place;
      place.count = one.count;
      place.offset = bytes.size();
      for (size_t i = 0; i < kParts; ++i) place.sizes[i] = one.parts[i].size();
      put(bytes, in_one({one.parts.begin(), one.parts.end()}), true);
      place.seams_offset = bytes.size();
      place.seams_bytes = one.seams.size();
      place.seams_hash = index_hash(one.seams);
      put(bytes, one.seams, false);
      places.push_back(place);
    }
    return finished(std::move(bytes), places);
  }
  /// One that is taken over, and the last step, which is not.
  Stuff forge(ForgedSegment one) const {
    one.count = kSteps - 1;
    ForgedSegment last;
    last.count = 1;
    return forge(std::vector{std::move(one), std::move(last)});
  }
  /// A header, and a directory without segments that says how long the notes are.
  Stuff of_notes(uint64_t bytes) const {
    Stuff directory;
    for (const uint64_t value : {uint64_t{0}, uint64_t{kHolePage}, bytes, uint64_t{0}}) {
      uint8_t varint[kVarintMax];
      directory.insert(directory.end(), varint, varint + put_varint(varint, value));
    }
    Stuff out = make_header(identity(), kIndexHeaderBytes, directory);
    out.insert(out.end(), directory.begin(), directory.end());
    return out;
  }
  Result<Timeline> open(const Stuff& sidecar) {
    std::ofstream(options_.sidecar, std::ios::binary)
        .write(reinterpret_cast<const char*>(sidecar.data()),
               static_cast<std::streamsize>(sidecar.size()));
    return Timeline::open(*store_, trace_.catalog, file_, options_);
  }
  /// It was made anew.
  void expect_right(const Result<Timeline>& opened) {
    ASSERT_TRUE(opened.ok());
    const Naive naive(trace_.catalog, trace_.events());
    ASSERT_EQ(opened->steps(), kSteps);
    for (uint64_t at = 0; at < kSteps; at += 97) {
      const AddressRange pc = {0x401000 + at % 120, 0x401000 + at % 120};
      EXPECT_EQ(opened->last_execution(pc, at), naive.last_execution(pc, at)) << at;
    }
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  ("tracewell-forged-" + std::to_string(::getpid()));
  RandomSteps trace_{7, {.steps = kSteps, .threads = 3, .calls_per_mille = 20}};
  std::unique_ptr<StepStore> store_;
  TimelineOptions options_;
  Stuff file_;
  size_t shorter_by_ = 100;
};

long most_memory_mb() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss / 1024;
}

// Four bytes say of each step that it changed a register: 80 million changes in 160 KB.
TEST_F(ForgedIndex, SeamsOfAllStepsAreNotSpelledOut) {
  ForgedSegment one;
  one.seams = table_of(first_keys(20000), run_of(kSteps - 1));
  one.set(Part::Threads, table_of({100, 200, 300}, in_one({{0}, run_of(kSteps - 1)})));
  const Stuff sidecar = forge(one);
  const long before = most_memory_mb();
  ASSERT_TRUE(open(sidecar).ok());
  EXPECT_LT(most_memory_mb() - before, 400);
}

TEST_F(ForgedIndex, PartsInTheSameBytes) {
  const Stuff part(3000, 7);
  Stuff bytes(kIndexHeaderBytes);
  put(bytes, part, true);
  put(bytes, part, true);
  SegmentPlace place;
  place.sizes[0] = part.size();
  place.offset = kIndexHeaderBytes;
  place.count = kSteps / 2;
  SegmentPlace other = place;
  other.offset += 3000 + sums_size(3000);
  EXPECT_TRUE(read_index(finished(bytes, {place, other}), nullptr));
  EXPECT_TRUE(read_index(finished(bytes, {other, place}), nullptr)) << "in any order";
  EXPECT_FALSE(read_index(finished(bytes, {place, place}), nullptr));
  SegmentPlace within = other;
  --within.offset;
  EXPECT_FALSE(read_index(finished(bytes, {place, within}), nullptr));
  SegmentPlace seams = other;
  seams.seams_offset = seams.offset;
  seams.seams_bytes = 2;
  seams.seams_hash = index_hash(Bytes(part).first(2));
  EXPECT_FALSE(read_index(finished(bytes, {place, seams}), nullptr));
  SegmentPlace marks = other;
  marks.sizes[0] = 0;
  marks.marks_offset = kIndexHeaderBytes + 1;
  marks.marks_bytes = 1;
  EXPECT_FALSE(read_index(finished(bytes, {place, marks}), nullptr));
  SegmentPlace loss = place;
  loss.loss_end = loss.count + 1;
  EXPECT_TRUE(read_index(finished(bytes, {loss, other}), nullptr));
  ++loss.loss_end;
  EXPECT_FALSE(read_index(finished(bytes, {loss, other}), nullptr));
}

TEST_F(ForgedIndex, IsNotCopiedManyTimes) {
  Stuff bytes(kIndexHeaderBytes);
  put(bytes, Stuff(8000, 0), true);
  SegmentPlace place;
  place.count = 1;
  place.sizes[0] = 8000;
  place.offset = kIndexHeaderBytes;
  std::vector<SegmentPlace> places(kSteps, place);
  expect_right(open(finished(bytes, places)));
  EXPECT_LE(std::filesystem::file_size(options_.sidecar), file_.size() * 40);
}

// A few bytes each: there are as many as steps, and a question goes over all of them.
TEST_F(ForgedIndex, SegmentsOfOneStep) {
  ForgedSegment one;
  one.count = 1;
  expect_right(open(forge(std::vector<ForgedSegment>(kSteps, one))));
  const auto made = InputFile::open(options_.sidecar);
  ASSERT_TRUE(made.ok());
  EXPECT_LT(read_index((*made)->bytes(), nullptr)->segments.size(), 50u);
}

// Whoever reads all of the index comes across what is wrong while reading; or before it tells
// somebody what cannot be taken back.
TEST_F(ForgedIndex, SkipsAreDamageToThoseWhoReadAll) {
  shorter_by_ = 0;
  Stuff misled = varints({1, 50});
  misled.resize(misled.size() + 12, 0xff);
  misled.insert(misled.end(), {2, 2});
  const Stuff thread = in_one({{0}, misled}), cell = {0x80, 1, 9, 9};
  const auto made = open({});
  ASSERT_TRUE(made.ok());
  const auto seen = [](const Timeline& timeline) {
    std::vector<uint64_t> out;
    for (const Call& one : call_tree(timeline)) out.insert(out.end(), {one.tid, one.first});
    for (const Timeline::BlockHits& one : timeline.block_hits())
      out.insert(out.end(), {one.address, one.count});
    EXPECT_TRUE(find_bytes(timeline, Stuff(2, 0), [&](const BytesHit& hit) {
      out.insert(out.end(), {hit.address, hit.first});
      return true;
    }));
    return out;
  };
  const std::vector<uint64_t> wanted = seen(*made);
  for (const Part part : {Part::Threads, Part::Cells, Part::Openings}) {
    ForgedSegment one;
    one.count = kSteps;
    one.set(part, table_of({0, 100, 0x401000}, part == Part::Cells ? cell : thread));
    const auto opened = open(forge(std::vector{one}));
    ASSERT_TRUE(opened.ok());
    if (part == Part::Cells || part == Part::Openings)
      EXPECT_TRUE(find_bytes(*opened, Stuff(2, 0), [](const BytesHit&) { return true; }));
    EXPECT_EQ(seen(*opened), wanted);
    EXPECT_FALSE(opened->damaged());
  }
}

TEST_F(ForgedIndex, TransfersWithoutAnEntry) {
  ForgedSegment one;
  one.set(Part::Threads, table_of({100, 200, 300}, in_one({{0}, run_of(kSteps - 1)})));
  for (const Stuff& transfers : {Stuff{0}, Stuff{1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, Stuff{9},
                                 Stuff{0, 0x80}}) {
    one.set(Part::Transfers, table_of({200}, transfers));
    expect_right(open(forge(one)));
  }
}

TEST_F(ForgedIndex, ThreadsThatDoNotAscend) {
  const std::vector<uint64_t> keys = first_keys(3 * kGroup);
  Stuff thread = varints({1, 0x401000, 0});
  thread.push_back(pack_flow({5, machine::Flow::Return}));
  thread = in_one({thread, run_of(1000)});
  Stuff threads = table_of(keys, thread);
  store_uint(threads.data() + heads_at(threads) + kHeadBytes, 1, 8, Endian::Little);
  ForgedSegment one;
  one.count = 1000;
  one.set(Part::Threads, threads);
  ForgedSegment rest;
  rest.count = kSteps - 2000;
  expect_right(open(forge(std::vector{one, one, rest})));
}

TEST_F(ForgedIndex, TransfersOfManyThreadsInTheSameBytes) {
  constexpr uint64_t kThreads = 100 * kGroup;
  const Stuff calls = transfer_stream(std::vector<Transfer>(2000, {5, false, 0x401000, 0x401005}));
  Stuff transfers = table_of(first_keys(2 * kGroup), calls);
  // Heads and keys of all threads; the streams of the first ones.
  StreamTableWriter many;
  for (const uint64_t key : first_keys(kThreads)) many.add(key, {0, {}});
  Stuff heads = piled_up(in_one(many.finish()), kThreads, second_group(transfers));
  heads.resize(heads_at(heads) + kThreads / kGroup * kHeadBytes);
  transfers.erase(transfers.begin(),
                  transfers.begin() + static_cast<ptrdiff_t>(heads_at(transfers) + 2 * kHeadBytes));
  ForgedSegment one;
  one.set(Part::Threads, table_of(first_keys(kThreads), in_one({{0}, run_of(kSteps - 1)})));
  one.set(Part::Transfers, in_one({heads, transfers}));
  const Stuff sidecar = forge(one);
  const auto opened = open(sidecar);
  expect_right(opened);
  EXPECT_LE(std::filesystem::file_size(options_.sidecar), sidecar.size() + file_.size() * 40);
}

// No two keys of a table are found in the same bytes, whoever looks for them how.
TEST(ForgedTable, GroupsInTheSameBytes) {
  constexpr uint64_t kKeys = 50 * kGroup;
  const Stuff sound = table_of(first_keys(kKeys), Stuff(10, 1));
  for (const Stuff& table : {sound, piled_up(sound, kKeys, second_group(sound))}) {
    const StreamTable read{Bytes(table)};
    size_t each = 0, found = 0;
    read.each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
      each += item.stream.bytes.size();
      return true;
    });
    for (uint64_t key = 0; key < kKeys; ++key)
      if (const auto one = read.find(key)) found += one->bytes.size();
    const size_t most = table == sound ? kKeys * 10 : 2 * kGroup * 10;
    EXPECT_LE(each, most);
    EXPECT_LE(found, most);
    if (table == sound) {
      EXPECT_EQ(each + found, 2 * most);
    }
  }
}

TEST(ForgedTable, KeysThatGoRound) {
  Stuff table = varints({3, 0});
  for (const uint64_t distance : {uint64_t{5}, uint64_t{7}, UINT64_MAX})
    for (const uint64_t value : {distance, uint64_t{0}, uint64_t{0}}) append_varint(table, value);
  size_t count = 0;
  StreamTable{Bytes(table)}.each(0, UINT64_MAX, [&](const StreamTable::Item&) {
    ++count;
    return true;
  });
  EXPECT_EQ(count, 0u);
}

/// Told when it comes to an end, in the time that reading a few bytes takes.
double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Skips that all lead to the same entries, which are all of one step: they took 16 billion entries.
TEST(ForgedCell, SkipsToTheSameEntries) {
  constexpr size_t kSkips = 40000, kEntries = 400000;
  Stuff bytes = {0x80 | 7};
  append_varint(bytes, kSkips);
  for (size_t i = 0; i < kSkips; ++i) {
    bytes.resize(bytes.size() + 20);
    bytes.push_back(7);
  }
  for (size_t i = 0; i < kEntries; ++i) bytes.insert(bytes.end(), {1, 0});
  const CellHistory cell({0, bytes});
  EXPECT_LT(seconds_of([&] {
              EXPECT_FALSE(cell.next(1, 255, CellAccess::kBoth));
              EXPECT_FALSE(cell.last(1000, 255, CellAccess::kFoundChanged));
              EXPECT_FALSE(cell.last_told(1000, 1));
              cell.each(1, 1000, 255, CellAccess::kBoth, [](uint32_t) {});
            }),
            5);
}

// Addresses that are all executed by each step: the index is damaged.
TEST(ForgedExecutions, OfEachStepAtManyAddresses) {
  constexpr uint64_t kSteps = 2000000, kAddresses = 20000;
  const Stuff executions = table_of(first_keys(kAddresses), in_one({{0}, run_of(kSteps)}));
  Index index;
  Segment segment;
  segment.count = kSteps;
  segment.parts[static_cast<size_t>(Part::Executions)] = executions;
  segment.wanted = index.wanted;
  index.segments.push_back(segment);
  const Timeline timeline(std::move(index));
  EXPECT_LT(seconds_of([&] { timeline.executions({0, UINT64_MAX}, 0, kSteps); }), 5);
  EXPECT_TRUE(timeline.damaged());
  EXPECT_EQ(timeline.executions({0, 0}, 5, 9), (std::vector<uint64_t>{5, 6, 7, 8}));
}

// Records of calls that all are in the same bytes, and say that many calls are open.
TEST(ForgedCalls, RecordsInTheSameBytes) {
  constexpr size_t kChunks = 30000, kBytes = 300000;
  Stuff transfers;
  append_varint(transfers, kChunks - 1);
  ByteWriter skips(transfers, Endian::Little);
  for (size_t i = 1; i < kChunks; ++i)
    for (const uint64_t value : {uint64_t{i}, uint64_t{0}}) skips.uint(value, 4);
  for (const uint8_t byte : {0, 0, 2}) transfers.push_back(byte);
  Stuff marks = {0};
  append_varint(marks, kChunks);
  Stuff records = varints({1, 1, kBytes});
  records.resize(records.size() + kBytes);
  records.push_back(0);
  ByteWriter offsets(marks, Endian::Little);
  // Every other one is all there is, those in between are none: only the first ones are looked at.
  for (size_t i = 1; i < kChunks; ++i) offsets.uint(i % 2 == 0 ? 0 : records.size(), 4);
  marks.insert(marks.end(), records.begin(), records.end());
  const Stuff transfers_table = table_of({1}, transfers), marks_table = table_of({1}, marks);
  Index index;
  Segment segment;
  segment.count = kChunks + 10;
  segment.parts[static_cast<size_t>(Part::Transfers)] = transfers_table;
  segment.call_marks = marks_table;
  segment.wanted = index.wanted;
  const CallMarks read(segment, 1);
  ASSERT_EQ(read.chunks(), kChunks);
  CallMarks::Record record;
  EXPECT_LT(seconds_of([&] {
              for (size_t i = 0; i < kChunks; ++i) EXPECT_FALSE(read.read(i, record));
            }),
            5);
}

/// Holes are free, and would all be hashed: a terabyte takes many minutes.
TEST_F(ForgedIndex, HolesAreNotHashed) {
  constexpr uint64_t kNotes = uint64_t{1} << 40;
  for (const uint64_t shorter_by : {0, 1}) {
    shorter_by_ = shorter_by;
    std::ofstream(options_.sidecar, std::ios::binary)
        .write(reinterpret_cast<const char*>(of_notes(kNotes).data()),
               static_cast<std::streamsize>(of_notes(kNotes).size()));
    std::filesystem::resize_file(options_.sidecar, kHolePage + kNotes);
    EXPECT_FALSE(read_notes(options_.sidecar, file_, 0));
    expect_right(Timeline::open(*store_, trace_.catalog, file_, options_));
    EXPECT_LE(std::filesystem::file_size(options_.sidecar), file_.size() * 40);
  }
}

}  // namespace
}  // namespace tracewell::timeline::test
