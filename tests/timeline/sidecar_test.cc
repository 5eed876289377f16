// The index beside the trace: known again, extended, rebuilt, and whatever its bytes are.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "sanitized.h"
#include "timeline/calls/call_tree.h"
#include "timeline/naive.h"
#include "timeline/random_steps.h"
#include "timeline/stand_in.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

class Reads final : public Stage {
 public:
  explicit Reads(uint64_t& reads) : reads_(reads) {}
  void at(uint64_t done) override { reads_ = done; }

 private:
  uint64_t& reads_;
};

class Sidecar : public testing::Test {
 protected:
  Sidecar() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    options_.sidecar = (folder_ / "run.tidx").string();
    options_.trace_file = stand_in(folder_ / "run");
    options_.build.segment_steps = 500;
    options_.build.workers = 2;
    // Bytes that stand for the trace's file.
    std::mt19937 random(1);
    for (int i = 0; i < 20000; ++i) file_.push_back(static_cast<uint8_t>(random()));
  }
  ~Sidecar() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<StepStore> store(uint64_t steps) {
    tracewell::test::ListSource source(trace_.catalog, trace_.events().first(steps));
    return *StepStore::read(source);
  }
  Result<Timeline> open(uint64_t steps, size_t file_bytes) {
    reads_ = 0;
    options_.build.work.begins = [this](std::string_view, std::optional<uint64_t>) {
      return std::make_unique<Reads>(reads_);
    };
    return Timeline::open(*store(steps), trace_.catalog, Bytes(file_).first(file_bytes), options_);
  }
  /// Beside what stands for the trace.
  int64_t files_beside() const {
    const auto files = std::filesystem::directory_iterator(folder_);
    return std::distance(begin(files), end(files)) - 1;
  }
  std::vector<uint8_t> sidecar() {
    auto file = InputFile::open(options_.sidecar);
    const Bytes bytes = (*file)->bytes();
    return {bytes.begin(), bytes.end()};
  }
  void write(const std::vector<uint8_t>& bytes) {
    std::ofstream(options_.sidecar, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  /// Everything that a few hundred questions can tell apart.
  void expect_same(const Timeline& timeline, uint64_t steps) {
    const Naive naive(trace_.catalog, trace_.events().first(steps));
    ASSERT_EQ(timeline.steps(), steps);
    for (uint64_t at = 0; at <= steps; at += 7) {
      const uint64_t address = 0x7000 + at % 200;
      NaiveByte byte;
      timeline.memory(at, address, {&byte.value, 1}, {&byte.state, 1});
      EXPECT_TRUE(byte == naive.byte(at, address)) << at;
      const auto index = static_cast<uint32_t>(at % 18);
      for (const ChangedBy by : {ChangedBy::Instruction, ChangedBy::Others})
        EXPECT_EQ(timeline.next_change(index, by, at), naive.next_change(index, by, at)) << at;
      const AddressRange pc = {0x401000 + at % 120, 0x401000 + at % 120};
      EXPECT_EQ(timeline.last_execution(pc, at), naive.last_execution(pc, at)) << at;
    }
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  ("tracewell-sidecar-" + std::to_string(::getpid()));
  RandomSteps trace_{7, {.steps = 4000, .threads = 3, .calls_per_mille = 20}};
  TimelineOptions options_;
  std::vector<uint8_t> file_;
  uint64_t reads_ = 0;
};

TEST_F(Sidecar, IsKnownAgain) {
  expect_same(*open(4000, 20000), 4000);
  EXPECT_EQ(reads_, 4000u);
  expect_same(*open(4000, 20000), 4000);
  EXPECT_EQ(reads_, 0u);
  // No temporary file is left.
  EXPECT_EQ(files_beside(), 1);
}

TEST_F(Sidecar, IsLeftUndoneWhenNobodyWantsIt) {
  bool stop = true;
  options_.build.work.stop = [&] { return stop; };
  EXPECT_FALSE(open(4000, 20000));
  EXPECT_EQ(files_beside(), 0);
  stop = false;
  expect_same(*open(4000, 20000), 4000);
}

TEST_F(Sidecar, GrowsWithTheTrace) {
  ASSERT_TRUE(open(2600, 13000));
  const auto grown = open(4000, 20000);
  ASSERT_TRUE(grown);
  // The last segment is made anew: its last steps know more now.
  EXPECT_GE(reads_, 1400u);
  EXPECT_LE(reads_, 1400u + 600u);
  expect_same(*grown, 4000);
}

TEST_F(Sidecar, KeepsNotesOfTheReader) {
  const Bytes trace(file_);
  EXPECT_FALSE(read_notes(options_.sidecar, trace, 0));
  const std::vector<uint8_t> notes = {1, 2, 3};
  options_.build.notes = notes;
  ASSERT_TRUE(open(2000, 10000));
  auto kept = read_notes(options_.sidecar, trace.first(10000), 0);
  ASSERT_TRUE(kept);
  EXPECT_EQ(std::vector<uint8_t>(kept->notes.begin(), kept->notes.end()), notes);
  kept = read_notes(options_.sidecar, trace, 0);
  ASSERT_TRUE(kept) << "it has grown";
  EXPECT_EQ(kept->trace_bytes, 10000u);
  EXPECT_FALSE(read_notes(options_.sidecar, trace.first(10000), 1));
  EXPECT_FALSE(read_notes(options_.sidecar, trace.first(9999), 0));
  // What was kept lives on when the file is replaced.
  options_.build.notes = {};
  ASSERT_TRUE(open(4000, 20000));
  EXPECT_EQ(kept->notes[2], 3);
  EXPECT_TRUE(read_notes(options_.sidecar, trace, 0)->notes.empty());
}

TEST_F(Sidecar, IsRebuiltForAnotherTrace) {
  ASSERT_TRUE(open(4000, 20000));
  options_.trace_changed_ns = 5;
  expect_same(*open(4000, 20000), 4000);
  EXPECT_EQ(reads_, 4000u) << "another time";
  file_[10] ^= 1;
  expect_same(*open(4000, 20000), 4000);
  EXPECT_EQ(reads_, 4000u) << "another head";
  ASSERT_TRUE(open(2000, 10000));
  file_[9990] ^= 1;
  expect_same(*open(4000, 20000), 4000);
  EXPECT_EQ(reads_, 4000u) << "another tail of what was covered";
  expect_same(*open(3000, 15000), 3000);
  EXPECT_EQ(reads_, 3000u) << "shorter";
}

TEST_F(Sidecar, IsRebuiltWhenItsHeadOrDirectoryIsDamaged) {
  ASSERT_TRUE(open(4000, 20000));
  const std::vector<uint8_t> sound = sidecar();
  const auto damaged = [&](size_t at) {
    std::vector<uint8_t> bytes = sound;
    bytes[at] ^= 0x10;
    write(bytes);
    expect_same(*open(4000, 20000), 4000);
    EXPECT_EQ(reads_, 4000u) << at;
  };
  for (size_t at = 0; at < kIndexHeaderBytes; at += 5) damaged(at);
  damaged(sound.size() - 1);
  std::filesystem::resize_file(options_.sidecar, sound.size() - 100);
  expect_same(*open(4000, 20000), 4000);
  EXPECT_EQ(reads_, 4000u);
  std::filesystem::resize_file(options_.sidecar, 0);
  expect_same(*open(4000, 20000), 4000);
}

TEST_F(Sidecar, CannotBeWritten) {
  options_.sidecar = (folder_ / "none" / "run.tidx").string();
  const auto opened = open(100, 20000);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::Io);
}

/// Says that there are more steps than there are, as a reader would whose file shrinks.
class Shrunk final : public StepIndex {
 public:
  explicit Shrunk(StepStore& store) : store_(store) {}
  uint64_t count() const override { return store_.count() + 10; }
  Status seek(uint64_t seq) override { return store_.seek(seq); }
  Status state_before(uint64_t seq, Moment& moment) override {
    return store_.state_before(seq, moment);
  }
  std::span<const uint64_t> keyframes() const override { return store_.keyframes(); }
  std::span<const uint64_t> sessions() const override { return store_.sessions(); }
  Result<std::unique_ptr<Source>> open_at(uint64_t seq) const override {
    return store_.open_at(seq);
  }
  Result<bool> refresh() override { return false; }

 private:
  StepStore& store_;
};

TEST_F(Sidecar, IsNotThereWhenTheTraceCannotBeRead) {
  const auto whole = store(2000);
  const Shrunk shrunk(*whole);
  const auto opened = Timeline::open(shrunk, trace_.catalog, file_, options_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::Corrupt);
  EXPECT_EQ(files_beside(), 0);
}

// Each flipped byte is noticed by who comes across it, or told nobody anything.
TEST_F(Sidecar, AFlippedByteCostsNoAnswer) {
  options_.build.workers = 1;  // so that each index has the same bytes
  ASSERT_TRUE(open(4000, 20000));
  const std::vector<uint8_t> sound = sidecar();
  const Naive naive(trace_.catalog, trace_.events());
  unsigned told = 0, anew = 0;
  options_.damaged = [&] { ++told; };
  std::mt19937 random(4);
  for (size_t round = 0; round < 60; round += tracewell::test::kEach) {
    std::vector<uint8_t> bytes = sound;
    const size_t at = random() % bytes.size();
    bytes[at] ^= static_cast<uint8_t>(1u << random() % 8);
    write(bytes);
    told = 0;
    const auto opened = open(4000, 20000);
    ASSERT_TRUE(opened);
    const bool noticed_at_once = reads_ != 0;
    expect_same(*opened, 4000);
    for (uint64_t step = 0; step < 4000; step += 331)
      EXPECT_EQ(opened->thread_of(step), naive.tids_[step]);
    const Index& whole = opened->whole_index();
    EXPECT_FALSE(opened->damaged());
    EXPECT_EQ(told, noticed_at_once ? 0u : 1u) << at << " is in no part that anybody can see";
    anew += told;
    EXPECT_EQ(whole.steps(), 4000u);
    // The next one finds a sound file.
    reads_ = 0;
    expect_same(*open(4000, 20000), 4000);
    EXPECT_EQ(reads_, 0u);
    EXPECT_EQ(sidecar().size(), sound.size());
  }
  EXPECT_GT(anew, 40u / tracewell::test::kEach) << "most of it is segments";
}

// The folder is gone or read-only by then: the index is made in memory.
TEST_F(Sidecar, DamageIsMendedWithoutTheFile) {
  ASSERT_TRUE(open(4000, 20000));
  std::vector<uint8_t> bytes = sidecar();
  bytes[kIndexHeaderBytes + 100] ^= 1;
  write(bytes);
  const auto opened = open(4000, 20000);
  ASSERT_TRUE(opened);
  EXPECT_EQ(reads_, 0u);
  std::filesystem::remove_all(folder_);
  opened->whole_index();
  expect_same(*opened, 4000);
  EXPECT_FALSE(opened->damaged());
}

// A damaged segment of a trace that has grown is not taken over.
TEST_F(Sidecar, GrowsWithoutWhatIsDamaged) {
  ASSERT_TRUE(open(2600, 13000));
  std::vector<uint8_t> bytes = sidecar();
  bytes[kIndexHeaderBytes + 5000] ^= 1;
  write(bytes);
  const auto grown = open(4000, 20000);
  ASSERT_TRUE(grown);
  EXPECT_GT(reads_, 3000u);
  expect_same(*grown, 4000);
}

TEST_F(Sidecar, ThreadsThatComeAcrossDamage) {
  ASSERT_TRUE(open(4000, 20000));
  std::vector<uint8_t> bytes = sidecar();
  for (size_t at = kIndexHeaderBytes; at + 30000 < bytes.size(); at += 4000) bytes[at] ^= 0x40;
  write(bytes);
  const auto opened = open(4000, 20000);
  ASSERT_TRUE(opened);
  EXPECT_EQ(reads_, 0u);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { expect_same(*opened, 4000); });
}

// Whatever a segment holds, and nobody knows better: nothing is read that is not there.
TEST_F(Sidecar, DamagedSegmentsAreSurvived) {
  ASSERT_TRUE(open(4000, 20000));
  const std::vector<uint8_t> sound = sidecar();
  const auto whole = read_index(sound, nullptr);
  ASSERT_TRUE(whole);
  std::mt19937 random(3);
  const Bytes sums = whole->segments.back().sums->sums();
  const auto end = static_cast<size_t>(sums.data() + sums.size() - sound.data());
  for (size_t round = 0; round < 300; round += tracewell::test::kEach) {
    // Exactly as large as it is, so that a step beyond is seen by the sanitizers.
    auto bytes = std::make_shared<std::vector<uint8_t>>(sound);
    for (uint32_t i = 1 + random() % 40; i > 0; --i)
      (*bytes)[kIndexHeaderBytes + random() % (end - kIndexHeaderBytes)] =
          static_cast<uint8_t>(random());
    auto index = read_index(*bytes, bytes);
    ASSERT_TRUE(index);
    if (round % 2 == 0)  // with sums it ends early; so half of them without
      for (Segment& segment : index->segments) segment.sums = segment.call_sums = nullptr;
    const Timeline timeline(*std::move(index));
    std::vector<uint8_t> content(64);
    std::vector<ByteState> states(64);
    for (uint64_t at = 0; at < 4000; at += 157) {
      timeline.memory(at, 0x7000 + at % 300, content, states);
      timeline.changes_by_others(at, {0x7000, 0x7080});
      timeline.next_access({0x7000, 0x7100}, kOthers, at);
      timeline.next_access({0x7000, 0x7100}, kAccesses, at);
      timeline.last_access({0x7000, 0x7100}, kWrites, at);
      timeline.next_execution({0x401000, 0x401100}, at);
      timeline.last_execution({0x401000, 0x401100}, at);
      timeline.last_change(3, ChangedBy::Instruction, at);
      timeline.next_change(3, ChangedBy::Others, at);
      timeline.thread_of(at);
      EXPECT_LE(timeline.open_calls(at, 100 + at % 3 * 100, 50).calls.size(), 50u);
    }
    call_tree(timeline);
    timeline.block_hits();
    timeline.address_hits();
  }
}

/// A trace whose steps have few bytes each: what does not fit into a quarter of it is not kept, and
/// no answer is another one for it.
TEST_F(Sidecar, IsAQuarterOfTheTraceAtMost) {
  std::mt19937 random(5);
  while (file_.size() < 80000) file_.push_back(static_cast<uint8_t>(random()));
  const auto small = [&](uint64_t steps, size_t file_bytes) {
    auto opened = open(steps, file_bytes);
    ASSERT_TRUE(opened.ok());
    EXPECT_LE(std::filesystem::file_size(options_.sidecar), file_bytes / 4);
    expect_same(*opened, steps);
    EXPECT_FALSE(opened->damaged());
    const Timeline whole = *Timeline::open(*store(steps), trace_.catalog,
                                           Bytes(file_).first(file_bytes), TimelineOptions());
    EXPECT_EQ(opened->threads(), whole.threads());
    EXPECT_EQ(opened->address_hits().size(), whole.address_hits().size());
    EXPECT_EQ(opened->accesses({0x7000, 0x7100}, CellAccess::kBoth, 0, steps),
              whole.accesses({0x7000, 0x7100}, CellAccess::kBoth, 0, steps));
    EXPECT_EQ(files_beside(), 1) << "nothing else stays behind";
  };
  small(3000, 66000);
  const auto first = sidecar();
  small(3000, 66000);
  EXPECT_EQ(sidecar(), first) << "looked at, and left as it is";
  small(4000, 80000);
  EXPECT_TRUE(std::ranges::any_of(read_index(sidecar(), nullptr)->segments,
                                  [](const Segment& one) { return one.left_out != 0; }));
}

}  // namespace
}  // namespace tracewell::timeline::test
