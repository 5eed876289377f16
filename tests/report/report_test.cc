// Columns, times, filters and headings of a report.
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/batch.h"
#include "rendering.h"
#include "report/report.h"

namespace tracewell::report {
namespace {

constexpr int64_t kOn = 1'000'000'000'000'000;

struct ReportTest : testing::Test {
  Catalog catalog;
  Batch batch;
  ReportOptions options;
  Compiled compiled{
      "010 1.0 L=APPL \"MyCustomHook\" $D1%U8\n"
      "0101 1.0 L=INT \"four\" \\n \"lines\"\n"
      "012 1.0 \"@quiet\" $D1, 0 { $SKIP }, 1 { \"last\" $STOP }, \\* \"said\""};
  std::string heading;
  size_t logs = 1;  // events are the log's that their number says
  std::vector<std::optional<uint64_t>> owners = {0, 0, 0};  // of the logs
  std::vector<Catalog> catalogs = std::vector<Catalog>(3);
  uint64_t printed = 0;
  bool stopped = false;

  void hook_of(uint64_t log, uint16_t id, int64_t since_ns, uint64_t word) {
    hook(id, since_ns, word);
    batch.events().back().seq = log;
  }
  void hook(uint16_t id, int64_t since_ns, uint64_t word, uint64_t tid = 7, int32_t cpu = 2) {
    const std::vector<uint64_t> words = {word};
    Hook body;
    body.id = id;
    body.words = batch.copy_array(std::span<const uint64_t>(words));
    Event& event = batch.add();
    event.time_ns = kOn + since_ns;
    event.tid = tid;
    event.cpu = cpu;
    event.body = body;
  }
  std::string text() {
    std::string all;
    Report report(
        compiled.templates, options,
        [&](std::string_view piece) {
          all += piece;
          return Status();
        },
        [&](const ReportRow& row) {
          for (const Field& field : row.fields) all += field.name + "=" + field.value + ";";
          all += fmt::format("{}\n", row.label);
          return Status();
        });
    for (size_t i = 0; i < logs; ++i)
      report.add_log(logs == 1 ? catalog : catalogs[i], LogFacts(), owners[i]);
    report.begin(heading);
    for (const Event& event : batch.events())
      EXPECT_TRUE(report.take(event.seq % logs, event).ok());
    EXPECT_TRUE(report.finish().ok());
    printed = report.printed();
    stopped = report.stopped();
    return all;
  }
};

TEST_F(ReportTest, TimesCountFromTraceOn) {
  hook(0x0010, 0, 0);
  hook(0x0100, 3872577, 1);
  hook(0x0100, 3874101, 2);
  hook(0x0100, 3874956, 3);
  heading = "a heading\n\n";
  EXPECT_EQ(text(),
            "a heading\n\n"
            "ID         ELAPSED_SEC      DELTA_MSEC  APPL    SYSCALL KERNEL  INTERRUPT\n\n"
            "001        0.000000000        0.000000                  TRACE ON channel 0\n"
            "010        0.003872577        3.872577  MyCustomHook 1\n"
            "010        0.003874101        0.001524  MyCustomHook 2\n"
            "010        0.003874956        0.000855  MyCustomHook 3\n");
  EXPECT_EQ(printed, 4u);
}

TEST_F(ReportTest, LevelsIndentAndSoDoFurtherLines) {
  hook(0x0101, 0, 0);
  hook(0x0990, 1, 5);
  options.column_heads = false;
  options.columns.times = Times::None;
  EXPECT_EQ(text(),
            "0101                          four\n"
            "                              lines\n"
            "099                   UNDEFINED TRACE ID idx 0x20\n"
            "                      traceid 0990 hookword 8000001809900000 type 8000\n"
            "                      hookdata 0000 0000000000000005\n");
}

TEST_F(ReportTest, ColumnsCanBeChosen) {
  hook(0x0100, 0, 1, 1234567);
  hook(0x0100, 2500, 2, 7, -1);
  options.columns.times = Times::Microseconds;
  options.columns.ids = false;
  options.columns.tid = options.columns.cpu = true;
  EXPECT_EQ(text(),
            "    TID  CPU   ELAPSED_USEC   DELTA_USEC  APPL    SYSCALL KERNEL  INTERRUPT\n\n"
            "1234567    2              0            0  MyCustomHook 1\n"
            "      7    -              2            2  MyCustomHook 2\n");
}

TEST_F(ReportTest, FiltersLeaveOutAndDeltasAreBetweenWhatIsPrinted) {
  hook(0x0010, 0, 0);
  hook(0x0100, 1'000'000, 1, 7, 0);
  hook(0x0101, 2'000'000, 1, 7, 1);
  hook(0x0100, 3'000'000, 2, 8, 1);
  options.column_heads = false;
  options.filter.hooks = {0x0100};
  EXPECT_EQ(text(),
            "010        0.001000000        1.000000  MyCustomHook 1\n"
            "010        0.003000000        2.000000  MyCustomHook 2\n");
  options.filter.threads = {7};
  EXPECT_EQ(text(), "010        0.001000000        1.000000  MyCustomHook 1\n");
  options.filter.threads_excluded = true;
  EXPECT_EQ(text(), "010        0.003000000        3.000000  MyCustomHook 2\n");
  options.filter = {};
  options.filter.without_hooks = {0x0010, 0x0100};
  EXPECT_EQ(text().substr(0, 4), "0101");
  options.filter = {};
  options.filter.cpus = {0};
  EXPECT_EQ(text(), "010        0.001000000        1.000000  MyCustomHook 1\n");
  options.filter = {};
  options.from_ns = 2'500'000;
  options.to_ns = 3'000'000;
  EXPECT_EQ(text(), "010        0.003000000        3.000000  MyCustomHook 2\n");
}

TEST_F(ReportTest, SkippedEventsLeaveNothingAndStopEnds) {
  hook(0x0120, 0, 0);
  hook(0x0120, 10, 2);
  hook(0x0120, 20, 1);
  hook(0x0120, 30, 2);
  options.column_heads = false;
  options.columns.times = Times::None;
  EXPECT_EQ(text(), "012                   said\n012                   last\n");
  EXPECT_TRUE(stopped);
  EXPECT_EQ(printed, 2u);
}

TEST_F(ReportTest, EventsWithoutTime) {
  hook(0x0100, 0, 1);
  batch.events()[0].time_ns.reset();
  options.column_heads = false;
  EXPECT_EQ(text(), "010                  -               -  MyCustomHook 1\n");
}

TEST_F(ReportTest, FiltersBySubhook) {
  hook(0x0100, 0, 1);
  hook(0x0990, 1, 2);
  options.column_heads = false;
  options.columns.times = Times::None;
  options.filter.hooks.add(0x0100, 0);
  EXPECT_EQ(text(), "010   MyCustomHook 1\n");
  options.filter.hooks = {};
  options.filter.hooks.add(0x0100, 1);
  EXPECT_EQ(text(), "");
  options.filter.hooks = {};
  options.filter.without_hooks.add(0x0990, 0);
  EXPECT_EQ(text(), "010   MyCustomHook 1\n");
}

TEST_F(ReportTest, FiltersByMoment) {
  hook(0x0100, 0, 1);
  hook(0x0100, 10, 2);
  hook(0x0100, 20, 3);
  options.column_heads = false;
  options.columns.times = Times::None;
  options.filter.after_ns = kOn + 10;
  options.filter.before_ns = kOn + 19;
  EXPECT_EQ(text(), "010   MyCustomHook 2\n");
}

TEST_F(ReportTest, ShortTimes) {
  hook(0x0100, 0, 1);
  hook(0x0100, 1'234'567'890, 2);
  options.columns.times = Times::Short;
  EXPECT_EQ(text(),
            "ID      ELAPSED_SEC  APPL    SYSCALL KERNEL  INTERRUPT\n\n"
            "010        0.000000  MyCustomHook 1\n"
            "010        1.234567  MyCustomHook 2\n");
}

/// Whoever says that it was earlier decides for itself alone.
TEST_F(ReportTest, TimesCountFromWhereTheLogSaysThatItBegan) {
  catalog.began_ns = kOn;
  hook(0x0100, -500'000'000, 66);
  hook(0x0100, 1'500'000'000, 1);
  options.columns.times = Times::Short;
  options.column_heads = false;
  EXPECT_EQ(text(),
            "010       -0.500000  MyCustomHook 66\n"
            "010        1.500000  MyCustomHook 1\n");
  options.from_ns = 0;
  options.to_ns = 2'000'000'000;
  EXPECT_EQ(text(), "010        1.500000  MyCustomHook 1\n");
}

TEST_F(ReportTest, ProcessesComeFromTheCatalogAndFromMarks) {
  catalog.extras = {{"hooklog.thread.7", "70"}, {"hooklog.thread.8", "80"}};
  Event& mark = batch.add();
  mark.tid = 7;
  mark.time_ns = kOn;
  mark.body = Mark{"process 70: /usr/bin/a-program-with-a-long-name", false};
  hook(0x0100, 1, 1, 7);
  hook(0x0100, 2, 2, 8);
  hook(0x0100, 3, 3, 9);
  options.columns.times = Times::None;
  options.columns.process = options.columns.pid = true;
  options.filter.without_hooks = {0x00c0};
  EXPECT_EQ(text(),
            "ID    PROCESS NAME         PID  APPL    SYSCALL KERNEL  INTERRUPT\n\n"
            "010   a-program-with-       70  MyCustomHook 1\n"
            "010   -                     80  MyCustomHook 2\n"
            "010   -                      -  MyCustomHook 3\n");
  options.column_heads = false;
  options.columns.process = options.columns.pid = false;
  options.filter.processes = {80};
  EXPECT_EQ(text(), "010   MyCustomHook 2\n");
  options.filter.process_names = {"a-program-with-a-long-name"};
  EXPECT_EQ(text(), "010   MyCustomHook 1\n010   MyCustomHook 2\n");
}

/// Two processes whose threads had the same id, one after the other.
TEST_F(ReportTest, ProcessesOfEventsAreStrongerThanTheCatalogs) {
  catalog.extras = {{"hooklog.thread.7", "70"}};
  catalog.processes = {{.pid = 80}, {.pid = 90}};
  for (const uint32_t process : {1u, 2u}) {
    const uint32_t pid = catalog.processes[process - 1].pid;
    hook(0x0100, pid, pid, 7);
    batch.events().back().process = process;
  }
  options.columns.times = Times::None;
  options.column_heads = false;
  options.filter.processes = {90};
  EXPECT_EQ(text(), "010   MyCustomHook 90\n");
}

TEST_F(ReportTest, TwoLinesAndPages) {
  hook(0x0100, 0, 1);
  hook(0x0101, 10, 2);
  options.columns.times = Times::None;
  options.two_lines = true;
  options.page_lines = 2;
  EXPECT_EQ(text(),
            "ID    \n    APPL    SYSCALL KERNEL  INTERRUPT\n\n"
            "010   \n    MyCustomHook 1\n"
            "\nID    \n    APPL    SYSCALL KERNEL  INTERRUPT\n\n"
            "0101  \n                            four\n                            lines\n");
}

TEST_F(ReportTest, ColorIsAroundTheColumns) {
  hook(0x0100, 0, 1);
  options.column_heads = false;
  options.columns.times = Times::None;
  options.columns.color = true;
  EXPECT_EQ(text(), "\x1b[1m010   \x1b[0m\x1b[2m\x1b[0mMyCustomHook 1\n");
}

TEST_F(ReportTest, CountsOfHooks) {
  hook(0x0100, 0, 1);
  hook(0x0990, 1, 1);
  hook(0x0100, 2, 1);
  hook(0x0120, 3, 0);
  options.form = Form::Counts;
  EXPECT_EQ(text(),
            "ID           COUNT  LABEL\n\n"
            "010              2  MyCustomHook\n"
            "012              1  quiet\n"
            "099              1  -\n");
}

TEST_F(ReportTest, WhatSeveralLogsHaveAlikeIsPrintedOnce) {
  logs = 2;
  for (const uint64_t log : {0, 0, 1, 1, 1}) {
    hook(0x0100, 5, 1);
    batch.events().back().seq = log;
  }
  hook(0x0100, 5, 2);
  options.column_heads = false;
  options.columns.times = Times::None;
  EXPECT_EQ(text(),
            "010   MyCustomHook 1\n010   MyCustomHook 1\n010   MyCustomHook 1\n"
            "010   MyCustomHook 2\n");
  options.once = false;
  text();
  EXPECT_EQ(printed, 6u);
}

/// Logs may be of different users: one that tells of an event as another process's takes it from
/// nobody.
TEST_F(ReportTest, WhatIsOfSeveralProcessesIsNotAlike) {
  logs = 2;
  for (size_t log : {0, 1}) catalogs[log].processes = {{.pid = 70}, {.pid = 71}};
  for (const uint64_t log : {0, 1}) {
    hook(0x0100, 5, 1);
    batch.events().back().seq = log;
    batch.events().back().process = 1 + log;
  }
  options.column_heads = false;
  options.columns.times = Times::None;
  EXPECT_EQ(text(), "010   MyCustomHook 1\n010   MyCustomHook 1\n");
}

/// An event ends the logs of its owner, and those of nobody else.
TEST_F(ReportTest, StopEndsTheLogsOfOneOwner) {
  logs = 3;
  owners = {1, 2, 1};
  for (const int64_t time : {0, 10, 20})
    for (const uint64_t log : {0, 1, 2})
      hook_of(log, 0x0120, time, log == 0 && time == 10 ? 1 : 20 * log + 2);
  options.column_heads = false;
  options.columns.times = Times::None;
  const std::string said = "012                   said\n";
  EXPECT_EQ(text(), said + said + said + "012                   last\n" + said + said);
  EXPECT_FALSE(stopped);
  owners = {std::nullopt, std::nullopt, std::nullopt};
  EXPECT_EQ(text(),
            said + said + said + "012                   last\n" + said + said + said + said);
  owners = {1, 1, 1};
  EXPECT_EQ(text(), said + said + said + "012                   last\n");
  EXPECT_TRUE(stopped);
}

TEST_F(ReportTest, TimersAreOfOneOwner) {
  logs = 2;
  compiled.templates.add("t", "013 1.0 \"a\" starttimer(1, 2)\n014 1.0 \"b\" endtimer(1, 2)\n");
  compiled.templates.link();
  hook_of(0, 0x0130, 0, 0);
  hook_of(1, 0x0130, 5000, 0);
  hook_of(0, 0x0140, 10'000, 0);
  options.column_heads = false;
  options.columns.times = Times::None;
  owners = {1, 2};
  EXPECT_NE(text().find("b [10 usec]"), std::string::npos);
  owners = {1, 1};
  EXPECT_NE(text().find("b [5 usec]"), std::string::npos);
}

TEST_F(ReportTest, WhatLogsOfSeveralOwnersHaveAlikeIsPrintedForEach) {
  logs = 2;
  for (const uint64_t log : {0, 1}) hook_of(log, 0x0100, 5, 1);
  owners = {1, 2};
  text();
  EXPECT_EQ(printed, 2u);
  owners = {1, 1};
  text();
  EXPECT_EQ(printed, 1u);
}

/// Also where a log says that it began long before the others, or does not say it.
TEST_F(ReportTest, TimesAreThoseOfTheOwner) {
  logs = 2;
  catalogs[1].began_ns = kOn;
  hook_of(0, 0x0100, -5'000'000, 1);
  hook_of(1, 0x0100, 1'000'000, 2);
  hook_of(0, 0x0100, 1'500'000, 3);
  hook_of(1, 0x0100, 2'000'000, 4);
  options.column_heads = false;
  owners = {1, 2};
  for (const bool says : {false, true}) {
    if (says) catalogs[0].began_ns = kOn - 5'000'000;
    EXPECT_EQ(text(),
              "010        0.000000000        0.000000  MyCustomHook 1\n"
              "010        0.001000000        1.000000  MyCustomHook 2\n"
              "010        0.006500000        6.500000  MyCustomHook 3\n"
              "010        0.002000000        1.000000  MyCustomHook 4\n");
  }
  options.to_ns = 2'000'000;
  text();
  EXPECT_EQ(printed, 3u);
  owners = {1, 1};
  text();
  EXPECT_EQ(printed, 1u);
}

TEST_F(ReportTest, InstructionsThatAllEventsHaveInCommonAreThoseOfOneOwner) {
  logs = 2;
  compiled.templates.add("t", "013 1.0 \"\" {{ $n = 9000 }} LOOP $n {{{ $x = 1 + 2 }}}\n");
  compiled.templates.link();
  for (int i = 0; i < 20; ++i) hook_of(0, 0x0130, i, 0);
  hook_of(1, 0x0130, 100, 0);
  options.common_work = 100'000;
  options.column_heads = false;
  options.columns.times = Times::None;
  const auto last_line = [&] {
    std::string all = text();
    all.pop_back();
    return all.substr(all.rfind('\n') + 1);
  };
  owners = {1, 2};
  EXPECT_EQ(last_line().find("limit"), std::string::npos);
  for (const std::optional<uint64_t> both : {std::optional<uint64_t>(1), {}}) {
    owners = {both, both};
    EXPECT_NE(last_line().find("the instruction limit for all events together"),
              std::string::npos);
  }
}

TEST_F(ReportTest, RawEntriesCountThreadAndTimeInTheirLength) {
  hook(0x0100, 0, 0x1122334455667788, 9);
  catalog.endian = Endian::Big;
  options.form = Form::Raw;
  const std::string bytes = text();
  const std::string wanted("\x80\x00\x00\x18\x01\x00\x00\x00\x11\x22\x33\x44\x55\x66\x77\x88"
                           "\x00\x00\x00\x00\x00\x00\x00\x09\x00\x03\x8d\x7e\xa4\xc6\x80\x00",
                           32);
  EXPECT_EQ(bytes, wanted);
}

TEST_F(ReportTest, RowsHaveFieldsNamedByTheirLabels) {
  options.form = Form::Rows;
  hook(0x0100, 0, 7);
  hook(0x0120, 0, 7);
  hook(0x0990, 0, 7);
  hook(0x0010, 0, 7);
  compiled.templates.add("t", "010 1.0 \"L\" \"Address=0x\"$D1%X8 \"Array Index=\"$D1%D4 "
                              "\", rest: \" $D1 \" units\"\n"
                              "012 1.0 \"@quiet\" $D1 \"Size=\"$D1%D4 \"Size=\"$D1%D2 \"op=\" $D1, "
                              "7 \"read\"\n");
  compiled.templates.link();
  EXPECT_EQ(text(),
            "Address=0x0000000000000007;Array Index=7;rest=0007 units;L\n"
            "value=0007;Size=7;Size_2=7;op=read;quiet\n"
            "\n"
            "channel=0;TRACE ON\n");
}

TEST_F(ReportTest, ListOfHooks) {
  const std::string list = list_hooks(compiled.templates);
  EXPECT_NE(list.find("001 TRACE ON\n"), std::string::npos);
  EXPECT_NE(list.find("010 MyCustomHook\n0101 four\n"), std::string::npos);
  EXPECT_NE(list.find("012 quiet\n"), std::string::npos);
}

}  // namespace
}  // namespace tracewell::report
