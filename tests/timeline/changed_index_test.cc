// An index that its trace's owner writes to while it is asked: what agreed with its sums before is
// something else by now. What is found may be anything, but lies in the index.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "sanitized.h"
#include "timeline/calls/call_marks.h"
#include "timeline/calls/transfers.h"
#include "timeline/index/index_file.h"
#include "timeline/memory/cell_history.h"
#include "timeline/memory/openings.h"
#include "timeline/random_steps.h"
#include "timeline/stand_in.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

constexpr size_t kPageBytes = 4096;

/// Bytes of an index in memory that other processes of ours share, right in front of a page that
/// nobody may touch.
class SharedIndex {
 public:
  SharedIndex() {
    const std::vector<uint8_t> bytes = make();
    size_ = bytes.size();
    room_ = (size_ + kPageBytes - 1) / kPageBytes * kPageBytes;
    void* const memory = ::mmap(nullptr, room_ + kPageBytes, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    memory_ = static_cast<uint8_t*>(memory);
    EXPECT_EQ(::mprotect(memory_ + room_, kPageBytes, PROT_NONE), 0);
    std::memcpy(memory_ + room_ - size_, bytes.data(), size_);
  }
  ~SharedIndex() { ::munmap(memory_, room_ + kPageBytes); }
  SharedIndex(const SharedIndex&) = delete;
  SharedIndex& operator=(const SharedIndex&) = delete;

  Bytes bytes() const { return {memory_ + room_ - size_, size_}; }
  volatile uint8_t& operator[](size_t at) { return memory_[room_ - size_ + at]; }
  size_t size() const { return size_; }

 private:
  static std::vector<uint8_t> make() {
    const std::string path = (std::filesystem::temp_directory_path() /
                              ("tracewell-changed-" + std::to_string(::getpid())))
                                 .string();
    const RandomSteps trace(7, {.steps = 900, .threads = 3});
    tracewell::test::ListSource source(trace.catalog, trace.events());
    const std::vector<uint8_t> file(5000, 1);
    TimelineOptions options;
    options.sidecar = path;
    options.trace_file = stand_in(path + ".run");
    options.build.segment_steps = 300;
    EXPECT_TRUE(Timeline::open(**StepStore::read(source), trace.catalog, file, options).ok());
    const auto made = InputFile::open(path);
    const std::vector<uint8_t> out((*made)->bytes().begin(), (*made)->bytes().end());
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".run");
    return out;
  }

  size_t size_ = 0, room_ = 0;
  uint8_t* memory_ = nullptr;
};

void ask(const Postings& list) {
  static_cast<void>(list.count());
  for (const uint64_t at : {uint64_t{0}, uint64_t{150}, uint64_t{UINT32_MAX}}) {
    static_cast<void>(list.next(at));
    static_cast<void>(list.last(at));
  }
}

void ask(const CellHistory& history) {
  CellContent content;
  for (const uint64_t at : {0, 150, 299}) {
    for (const std::optional<Opening>& opening :
         {std::optional<Opening>{}, std::optional<Opening>({150, true})}) {
      static_cast<void>(history.content_before(at, 0, opening));
      static_cast<void>(history.fill_back(at, 300, opening, 0xff, content));
    }
    static_cast<void>(history.next(at, 0xff, CellAccess::kBoth));
    static_cast<void>(history.last(at, 0xff, CellAccess::kBoth));
  }
}

void ask(const SegmentOpenings& openings) {
  for (const uint64_t at : {0, 150, 299}) {
    static_cast<void>(openings.last(at));
    static_cast<void>(openings.next(at));
  }
}

uint64_t ask_chunks(const CallMarks& marks) {
  uint64_t found = 0;
  for (size_t i = 0; i < marks.chunks(); ++i) {
    CallMarks::Record record;
    std::vector<Transfer> entries;
    if (marks.read(i, record)) found += record.open.size();
    if (marks.entries(i, entries)) found += entries.size();
  }
  return found;
}

std::vector<uint64_t> thread_ids(const Index& index) {
  std::set<uint64_t> tids;
  for (const Segment& segment : index.segments)
    segment.table(Part::Threads).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
      return tids.insert(item.key), true;
    });
  return {tids.begin(), tids.end()};
}

/// All of it; how many keys were found.
uint64_t ask_all(const Index& index) {
  uint64_t found = 0;
  static const std::vector<uint64_t> tids = thread_ids(index);  // it is whole at the first call
  const auto each = [&](const StreamTable& table, auto&& visit) {
    table.each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
      ++found;
      visit(item.stream);
      static_cast<void>(table.find(item.key));
      return true;
    });
  };
  for (const Segment& segment : index.segments) {
    each(segment.table(Part::Executions), [](const Stream& stream) {
      if (const auto place = read_place(stream)) ask(place->steps);
    });
    each(segment.table(Part::Registers), [](const Stream& stream) { ask(Postings(stream)); });
    each(StreamTable(segment.seams), [](const Stream& stream) { ask(Postings(stream)); });
    each(segment.table(Part::Threads), [](const Stream& stream) {
      if (const auto thread = read_thread(stream)) ask(thread->steps);
    });
    each(segment.table(Part::Cells), [](const Stream& stream) { ask(CellHistory(stream)); });
    each(segment.table(Part::Transfers), [&](const Stream& stream) {
      const Transfers transfers(stream);
      std::vector<Transfer> entries;
      for (size_t i = 0; i < transfers.chunks(); ++i) transfers.read(i, entries);
      found += entries.size();
    });
    each(segment.table(Part::Openings), [](const Stream& stream) { ask(Postings(stream)); });
    ask(SegmentOpenings(segment));
    for (const uint64_t tid : tids) found += ask_chunks(CallMarks(segment, tid));
  }
  return found;
}

TEST(ChangedIndex, BytesThatWereFoundGood) {
  SharedIndex shared;
  const auto index = read_index(shared.bytes(), nullptr);
  ASSERT_TRUE(index);
  for (const Segment& segment : index->segments) ASSERT_TRUE(segment.good());
  const uint64_t all = ask_all(*index);
  ASSERT_GT(all, 300u);
  uint64_t others = 0;
  for (size_t at = 0; at < shared.size(); at += 5 * tracewell::test::each_slow()) {
    const uint8_t good = shared[at];
    for (const int other : {0x00, 0xff, good ^ 0x21}) {
      shared[at] = static_cast<uint8_t>(other);
      others += ask_all(*index) != all;
      shared[at] = good;
    }
  }
  EXPECT_GT(others, 20u / tracewell::test::each_slow()) << "nothing has changed";
  EXPECT_EQ(ask_all(*index), all);
}

/// At any moment, also while the index is opened.
TEST(ChangedIndex, WhileItIsAsked) {
  SharedIndex shared;
  const auto index = read_index(shared.bytes(), nullptr);
  ASSERT_TRUE(index);
  for (const Segment& segment : index->segments) ASSERT_TRUE(segment.good());
  const pid_t process = ::fork();
  ASSERT_GE(process, 0);
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::mt19937_64 random(1);
    while (true) {
      const size_t at = random() % shared.size();
      const uint8_t good = shared[at];
      for (int i = 0; i < 64; ++i) {
        shared[at] = static_cast<uint8_t>(random());
        shared[at] = good;
      }
    }
  }
  for (size_t i = 0; i < 3000 / tracewell::test::each_slow(); ++i) {
    ask_all(*index);
    if (const auto again = read_index(shared.bytes(), nullptr)) ask_all(*again);
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
}

}  // namespace
}  // namespace tracewell::timeline::test
