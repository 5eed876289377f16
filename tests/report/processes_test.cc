// Whose program a report shows at an event.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "report/processes.h"

namespace tracewell::report {
namespace {

struct ReportProcesses : testing::Test {
  Catalog catalog;

  static Event event_of(uint64_t tid, uint32_t process) {
    Event event;
    event.tid = tid;
    event.process = process;
    return event;
  }
  static void mark(Processes& processes, std::string_view text, uint32_t process = 0) {
    Event event = event_of(0, process);
    event.body = Mark{.text = text};
    processes.learn(event);
  }
  static std::string shown(Processes& processes, uint64_t tid, uint32_t process) {
    const uint64_t pid = processes.of(event_of(tid, process));
    return std::to_string(pid) + " " + std::string(processes.last_path());
  }
};

/// Thread 7 and pid 70 are used again.
TEST_F(ReportProcesses, WhoeverHadThePidBeforeShowsNoMore) {
  catalog.processes = {{.pid = 70}, {.pid = 70}, {.pid = 80, .image = "/bin/third"}};
  Processes processes(catalog);
  mark(processes, "process 70: /bin/first", 1);
  EXPECT_EQ(shown(processes, 7, 1), "70 /bin/first");
  EXPECT_EQ(shown(processes, 7, 2), "70 ");
  mark(processes, "process 70: /bin/second", 2);
  EXPECT_EQ(shown(processes, 7, 2), "70 /bin/second");
  EXPECT_EQ(shown(processes, 7, 1), "70 /bin/first");
  EXPECT_EQ(shown(processes, 7, 3), "80 /bin/third");
  EXPECT_EQ(processes.path_of(70), "/bin/second");
}

TEST_F(ReportProcesses, MarksOfNobodyAreOfTheirPid) {
  catalog.extras = {{"hooklog.thread.7", "70"}};
  catalog.processes = {{.pid = 70}};
  Processes processes(catalog);
  mark(processes, "process 70: /bin/first");
  EXPECT_EQ(shown(processes, 7, 0), "70 /bin/first");
  EXPECT_EQ(shown(processes, 7, 1), "70 /bin/first");
  EXPECT_EQ(shown(processes, 8, 0), "0 ");
}

TEST_F(ReportProcesses, ChangesTellOfProcessesAndPrograms) {
  Processes processes(catalog);
  const Process first = {.pid = 70, .image = "/bin/first"};
  const Process second = {.pid = 70, .image = "/bin/second"};
  Event change = event_of(0, 1);
  change.body = tracewell::Change{.process = &first};
  processes.learn(change);
  EXPECT_EQ(shown(processes, 7, 1), "70 /bin/first");
  // The number is given again, to one of whom less is known.
  const Process other = {.pid = 71};
  change.body = tracewell::Change{.process = &other};
  mark(processes, "process 70: /bin/as-a-mark-says", 1);
  processes.learn(change);
  EXPECT_EQ(shown(processes, 7, 1), "71 ");
  change.body = tracewell::Change{.process = &first};
  processes.learn(change);
  mark(processes, "process 70: /bin/as-a-mark-says", 1);
  EXPECT_EQ(shown(processes, 7, 1), "70 /bin/as-a-mark-says");
  change.body = tracewell::Change{.kind = tracewell::Change::Kind::ProcessRuns,
                                  .process = &second};
  processes.learn(change);
  EXPECT_EQ(shown(processes, 7, 1), "70 /bin/second");
  Event thread = event_of(9, 1);
  thread.body = tracewell::Change{.kind = tracewell::Change::Kind::ThreadBegan};
  processes.learn(thread);
  EXPECT_EQ(shown(processes, 9, 0), "70 /bin/second");
}

}  // namespace
}  // namespace tracewell::report
