// Columns, times, filters and headings of a report.
#include <string>
#include <vector>

#include <gtest/gtest.h>

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
  uint64_t printed = 0;
  bool stopped = false;

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
    Report report(compiled.templates, options, LogFacts(), [&](std::string_view piece) {
      all += piece;
      return Status();
    });
    EXPECT_TRUE(report.begin(catalog).ok());
    EXPECT_TRUE(report.write(batch).ok());
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
  options.heading = "a heading\n\n";
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
  options.times = ReportOptions::Times::None;
  EXPECT_EQ(text(),
            "0101                          four\n"
            "                              lines\n"
            "099                   UNDEFINED TRACE ID idx 0x0\n"
            "                      traceid 0990 hookword 8000001809900000 type 8000\n"
            "                      hookdata 0000 0000000000000005\n");
}

TEST_F(ReportTest, ColumnsCanBeChosen) {
  hook(0x0100, 0, 1, 1234567);
  hook(0x0100, 2500, 2, 7, -1);
  options.times = ReportOptions::Times::Microseconds;
  options.ids = false;
  options.tid = options.cpu = true;
  EXPECT_EQ(text(),
            "    TID  CPU    ELAPSED_SEC   DELTA_MSEC  APPL    SYSCALL KERNEL  INTERRUPT\n\n"
            "1234567    2       0.000000        0.000  MyCustomHook 1\n"
            "      7    -       0.000002        0.002  MyCustomHook 2\n");
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
  options.times = ReportOptions::Times::None;
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

TEST_F(ReportTest, ListOfHooks) {
  const std::string list = list_hooks(compiled.templates);
  EXPECT_NE(list.find("001 TRACE ON\n"), std::string::npos);
  EXPECT_NE(list.find("010 MyCustomHook\n0101 four\n"), std::string::npos);
  EXPECT_NE(list.find("012 quiet\n"), std::string::npos);
}

}  // namespace
}  // namespace tracewell::report
