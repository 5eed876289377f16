// ProcessTable against a model that keeps all that it was told, as pids and threads are used again.
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/batch.h"
#include "model/process_table.h"

namespace tracewell {
namespace {

using Kind = Change::Kind;

Event event_of(uint32_t process, uint64_t tid = 0) {
  Event event;
  event.process = process;
  event.tid = tid;
  return event;
}

Event change_of(Kind kind, uint32_t process, uint64_t tid = 0, const Process* told = nullptr) {
  Event event = event_of(process, tid);
  event.body = Change{.kind = kind, .process = told};
  return event;
}

/// Looks through all that happened, from the last event to the first.
struct ToldProcesses {
  std::vector<Event> all;

  const Process* find(uint32_t process) const {
    for (size_t at = all.size(); at-- > 0;)
      if (const Change& one = std::get<Change>(all[at].body);
          all[at].process == process && one.process != nullptr)
        return one.process;
    return nullptr;
  }
  bool has_ended(uint32_t process) const {
    for (size_t at = all.size(); at-- > 0;) {
      if (all[at].process != process) continue;
      const Change& one = std::get<Change>(all[at].body);
      if (one.kind == Kind::ProcessEnded) return true;
      if (one.process != nullptr) return false;
    }
    return false;
  }
  uint32_t process_of_thread(uint64_t tid) const {
    for (size_t at = all.size(); at-- > 0;) {
      if (all[at].tid != tid) continue;
      const Kind kind = std::get<Change>(all[at].body).kind;
      if (kind == Kind::ThreadEnded) return 0;
      if (kind == Kind::ThreadBegan) return has_ended(all[at].process) ? 0 : all[at].process;
    }
    return 0;
  }
};

TEST(ProcessTable, SaysWhatWasToldLast) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    ProcessTable table;
    ToldProcesses told;
    Batch batch;
    std::map<uint64_t, uint32_t> owners;  // of the threads that live
    uint32_t next = 1;
    for (int i = 0; i < 120; ++i) {
      const uint32_t some = 1 + below(next);  // a process, or one that is not known yet
      const uint64_t tid = 1 + below(6);
      const auto process = [&] {
        return batch.keep(Process{.pid = 10 + below(4), .image = fmt::format("/bin/{}", i)});
      };
      Event event;
      switch (below(6)) {
        case 0:
          event = change_of(below(2) == 0 ? Kind::ProcessBegan : Kind::ProcessKnown, next, 0,
                            process());
          ++next;
          break;
        case 1:
          event = change_of(Kind::ProcessRuns, some, 0, process());
          break;
        case 2:
          event = change_of(Kind::ProcessEnded, some);
          break;
        case 3:
        case 4:
          event = change_of(Kind::ThreadBegan, some, tid);
          owners[tid] = some;
          break;
        default:
          if (!owners.contains(tid)) continue;
          event = change_of(Kind::ThreadEnded, owners[tid], tid);
          owners.erase(tid);
      }
      // Nothing but the end of one that is known is kept.
      const bool unknown_ends = std::get<Change>(event.body).kind == Kind::ProcessEnded &&
                                told.find(event.process) == nullptr;
      table.learn(event);
      if (!unknown_ends) told.all.push_back(event);
      for (uint32_t one = 0; one <= next + 1; ++one) {
        const Process* const wanted = told.find(one);
        const Process* const got = table.find(one);
        ASSERT_EQ(got != nullptr, wanted != nullptr) << one;
        if (wanted != nullptr) {
          ASSERT_EQ(*got, *wanted);
        }
        ASSERT_EQ(table.pid(one), wanted == nullptr ? 0 : wanted->pid);
        ASSERT_EQ(table.has_ended(one), told.has_ended(one)) << one;
      }
      for (uint64_t one = 0; one <= 7; ++one) {
        ASSERT_EQ(table.process_of(event_of(0, one)), told.process_of_thread(one)) << one;
        ASSERT_EQ(table.process_of(event_of(3, one)), 3u);
      }
    }
  }
}

TEST(ProcessTable, TakesBoundedMemoryWhateverItIsTold) {
  ProcessTable table;
  Batch batch;
  const Process large = {.pid = 7, .image = std::string(ProcessTable::kTextBytesMax / 2 + 1, 'x')};
  table.learn(change_of(Kind::ProcessBegan, 1, 0, &large));
  table.learn(change_of(Kind::ProcessBegan, 2, 0, &large));
  EXPECT_EQ(table.find(1)->image, large.image);
  EXPECT_EQ(table.find(2)->image, "");
  EXPECT_EQ(table.pid(2), 7u);
  // Another program's path takes the room of the first one's.
  table.learn(change_of(Kind::ProcessRuns, 1, 0, batch.keep(Process{.pid = 7, .image = "/x"})));
  table.learn(change_of(Kind::ProcessRuns, 2, 0, &large));
  EXPECT_EQ(table.find(2)->image, large.image);

  const Process one = {.pid = 8};
  for (const uint32_t number : {uint32_t{ProcessTable::kWholeMax} + 1, kProcessesMax}) {
    table.learn(change_of(Kind::ProcessKnown, number, 0, &one));
    EXPECT_EQ(table.pid(number), 8u);
    EXPECT_EQ(table.find(number), nullptr);
  }
  for (const uint32_t number : {kProcessesMax + 1, UINT32_MAX, 0u}) {
    table.learn(change_of(Kind::ProcessKnown, number, 0, &one));
    table.learn(change_of(Kind::ProcessEnded, number));
    EXPECT_EQ(table.pid(number), 0u);
    EXPECT_EQ(table.find(number), nullptr);
    EXPECT_FALSE(table.has_ended(number));
  }
  for (uint64_t tid = 1; tid <= ProcessTable::kThreadsMax + 1; ++tid)
    table.learn(change_of(Kind::ThreadBegan, 1, tid));
  EXPECT_EQ(table.process_of(event_of(0, 1)), 0u);
  EXPECT_EQ(table.process_of(event_of(0, ProcessTable::kThreadsMax + 1)), 1u);
}

TEST(ProcessTable, BeginsWithTheCatalogs) {
  Catalog catalog;
  catalog.processes = {{.pid = 5, .image = "/a"}, {.pid = 5, .parent = 1, .image = "/b"}};
  const ProcessTable table(catalog);
  EXPECT_EQ(table.pid_of(event_of(2)), 5u);
  EXPECT_EQ(*table.find(2), catalog.processes[1]);
  EXPECT_EQ(table.find(3), nullptr);
}

TEST(ProcessIdentity, IsRecordedOrMadeUpOrNotKnown) {
  Process one = {.pid = 5, .start_ns = 10, .boot = "b"};
  const auto made = identity_of(one);
  ASSERT_TRUE(made);
  EXPECT_EQ(identity_of(one), made);
  for (const Process& other : {Process{.pid = 6, .start_ns = 10, .boot = "b"},
                               Process{.pid = 5, .start_ns = 11, .boot = "b"},
                               Process{.pid = 5, .start_ns = 10, .boot = "c"}})
    EXPECT_NE(identity_of(other), made);
  for (const Process& other : {Process{.start_ns = 10, .boot = "b"}, Process{.pid = 5, .boot = "b"},
                               Process{.pid = 5, .start_ns = 10}})
    EXPECT_EQ(identity_of(other), std::nullopt);
  one.id = ProcessId{1, 2};
  EXPECT_EQ(identity_of(one), one.id);
  // It is the same in each release: other files name it.
  EXPECT_EQ(process_id_text(*made), "7166ad70549e3eeabc9127247adbd27d");
  EXPECT_EQ(parse_process_id(process_id_text(*made)), made);
  EXPECT_EQ(process_id_text(*one.id), "00000000000000010000000000000002");
  for (const char* bad : {"", "1", "0000000000000001000000000000000g",
                          "000000000000000100000000000000020"})
    EXPECT_EQ(parse_process_id(bad), std::nullopt);
}

}  // namespace
}  // namespace tracewell
