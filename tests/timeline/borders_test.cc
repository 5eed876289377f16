// Two threads, and segments whose borders lie where one gives way to the other: what is known of
// memory there is what it is where a segment holds all of it, since the other one may have written.
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "list_source.h"
#include "machine/x86.h"
#include "model/batch.h"
#include "timeline/search.h"
#include "timeline/stand_in.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

constexpr uint64_t kTurnSteps = 160, kSegmentSteps = 40;
constexpr uint64_t kWritten = 0x7000;  // aa, by the first thread; the second one finds bb there
constexpr uint64_t kLeft = 0x7100;     // cc, by the first thread's step in front of the switch
constexpr uint64_t kBoth = 0x7300;     // ab, by that step, too; the second one finds cd there
constexpr uint64_t kFound = 0x7200;    // dd, which the second one finds there

/// Thread 1 up to a step, thread 2 from there on; or what thread 1 goes on with behind steps that
/// were left out. The last step in front may be a system call.
struct TwoThreads {
  TwoThreads(uint64_t switched, bool call, bool gap = false) {
    static constexpr uint8_t kNop[] = {0x90}, kSyscall[] = {0x0f, 0x05};
    catalog.machine = "x86-64";
    catalog.address_bytes = 8;
    catalog.registers = machine::x86_64_layout({});
    for (uint64_t i = 0; i < kTurnSteps; ++i) {
      Step step;
      step.pc = 0x401000 + i;
      step.opcode = call && i + 1 == switched ? Bytes(kSyscall) : Bytes(kNop);
      std::vector<Step::MemoryAccess> accesses;
      if (i + 3 == switched) accesses.push_back(write(kWritten, 0xaa));
      if (i + 1 == switched) {
        accesses.push_back(write(kLeft, 0xcc));
        accesses.push_back(write(kBoth, 0xab));
      }
      if (i == switched + 3) {
        accesses.push_back(read(kWritten, 0xbb));
        accesses.push_back(read(kFound, 0xdd));
        accesses.push_back(read(kBoth, 0xcd));
      }
      step.gap_before = gap && i == switched;
      step.memory = batch.copy_array(std::span<const Step::MemoryAccess>(accesses));
      Event& event = batch.add();
      event.seq = i;
      event.tid = i < switched || gap ? 1 : 2;
      event.body = step;
    }
  }
  Step::MemoryAccess write(uint64_t address, uint8_t byte) {
    Step::MemoryAccess out = access(Step::MemoryAccess::Kind::Write, address);
    out.new_bytes = batch.copy(Bytes(&byte, 1));
    return out;
  }
  Step::MemoryAccess read(uint64_t address, uint8_t byte) {
    Step::MemoryAccess out = access(Step::MemoryAccess::Kind::Read, address);
    out.old_bytes = batch.copy(Bytes(&byte, 1));
    return out;
  }
  static Step::MemoryAccess access(Step::MemoryAccess::Kind kind, uint64_t address) {
    Step::MemoryAccess out;
    out.kind = kind;
    out.address = address;
    out.size = 1;
    return out;
  }

  Catalog catalog;
  Batch batch;
};

/// So many steps of the trace.
struct Opened {
  Opened(const TwoThreads& trace, const TimelineOptions& options, uint64_t steps = kTurnSteps,
         Bytes file = {}) {
    tracewell::test::ListSource source(trace.catalog, trace.batch.events().first(steps));
    store = *StepStore::read(source);
    timeline = std::make_unique<Timeline>(*Timeline::open(*store, trace.catalog, file, options));
  }
  std::set<uint64_t> borders() const {
    std::set<uint64_t> out;
    for (const Segment& segment : timeline->whole_index().segments) out.insert(segment.first);
    return out;
  }
  /// How a byte is known at each moment, and what it is: a word a moment.
  std::string known(uint64_t address) const {
    std::string out;
    for (uint64_t at = 0; at <= timeline->steps(); ++at) {
      uint8_t byte = 0;
      ByteState state = ByteState::Unknown;
      timeline->memory(at, address, {&byte, 1}, {&state, 1});
      out += fmt::format("{}{:02x} ", "?kit"[static_cast<size_t>(state)], byte);
    }
    return out;
  }

  std::unique_ptr<StepStore> store;
  std::unique_ptr<Timeline> timeline;
};

std::string times(uint64_t count, std::string_view word) {
  std::string out;
  for (uint64_t i = 0; i < count; ++i) out += word;
  return out;
}

/// All that can be asked about the switch.
void expect_truth(const Opened& opened, uint64_t switched) {
  const Timeline& timeline = *opened.timeline;
  const uint64_t found = switched + 3;
  EXPECT_EQ(opened.known(kWritten),
            times(switched - 2, "?00 ") + times(2, "taa ") + times(3, "ibb ") +
                times(kTurnSteps + 1 - found, "tbb "));
  EXPECT_EQ(opened.known(kLeft),
            times(switched, "?00 ") + times(kTurnSteps + 1 - switched, "kcc "));
  EXPECT_EQ(opened.known(kFound),
            times(switched, "?00 ") + times(3, "idd ") + times(kTurnSteps + 1 - found, "tdd "));
  EXPECT_TRUE(timeline.sealed(0, switched - 1));
  EXPECT_FALSE(timeline.sealed(switched - 1, switched));
  EXPECT_TRUE(timeline.sealed(switched, kTurnSteps - 1));
  EXPECT_FALSE(timeline.sealed(0, kTurnSteps - 1));
  for (const uint64_t address : {kWritten, kBoth}) {
    const AddressRange byte = {address, address};
    EXPECT_EQ(timeline.next_access(byte, kOthers, 0), std::optional(found));
    const auto changes = timeline.changes_by_others(found, byte);
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].since, switched - 1);
    EXPECT_EQ(changes[0].until, switched);
  }
  std::string hits;
  for (const uint8_t one : {0xaa, 0xcc, 0xdd})
    EXPECT_TRUE(find_bytes(timeline, std::vector<uint8_t>{one}, [&](const BytesHit& hit) {
      hits += fmt::format("{:x}: {}..{}{}{}; ", hit.address, hit.first, hit.last,
                          hit.kept ? " kept" : "", hit.inferred ? " inferred" : "");
      return true;
    }));
  EXPECT_EQ(hits, fmt::format("{:x}: {}..{}; {:x}: {}..{} kept; {:x}: {}..{} inferred; ", kWritten,
                              switched - 2, switched - 1, kLeft, switched, kTurnSteps, kFound,
                              switched, kTurnSteps));
}

TEST(Borders, OfSegmentsMakeNoDifferenceWhereThreadsTakeTurns) {
  size_t at_borders = 0;
  for (uint64_t switched = 4; switched + 10 < kTurnSteps; ++switched)
    for (const auto& [call, gap] : {std::pair{false, false}, {true, false}, {false, true}}) {
      SCOPED_TRACE(fmt::format("the switch is at step {}{}{}", switched,
                               call ? ", in a call" : "", gap ? ", and a gap" : ""));
      const TwoThreads trace(switched, call, gap);
      const Opened whole(trace, {});
      ASSERT_EQ(whole.borders().size(), 1u);
      TimelineOptions options;
      options.build.segment_steps = kSegmentSteps;
      const Opened cut(trace, options);
      ASSERT_GT(cut.borders().size(), 2u);
      at_borders += cut.borders().count(switched);
      expect_truth(whole, switched);
      expect_truth(cut, switched);
      ASSERT_FALSE(HasFailure());
    }
  EXPECT_GE(at_borders, 4u);
}

/// The index is read again, and is made longer with the trace: segments are taken over from it, and
/// the first one that is new stands behind one that is not.
TEST(Borders, OfSegmentsThatAreKept) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("tracewell-borders-{}", ::getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::vector<uint8_t> file(10000);  // stands for the trace's
  for (size_t i = 0; i < file.size(); ++i) file[i] = static_cast<uint8_t>(i * i >> 3);
  TimelineOptions options;
  options.sidecar = (folder / "run.tidx").string();
  options.trace_file = stand_in(folder / "run");
  options.build.segment_steps = kSegmentSteps;
  for (const uint64_t border : Opened(TwoThreads(10, false), options).borders()) {
    if (border == 0) continue;
    SCOPED_TRACE(border);
    for (const uint64_t before : {border - 1, border, border + 1, kTurnSteps - 1})
      for (const bool gap : {false, true}) {
        const TwoThreads trace(border, false, gap);
        SCOPED_TRACE(before);
        std::filesystem::remove(options.sidecar);
        { const Opened shorter(trace, options, before, Bytes(file).first(5000)); }
        const Opened grown(trace, options, kTurnSteps, file);
        expect_truth(grown, border);
        const Opened again(trace, options, kTurnSteps, file);
        ASSERT_EQ(again.borders().count(border), 1u);
        expect_truth(again, border);
      }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tracewell::timeline::test
