// Processes and changes through JSON lines, and what becomes of them in formats without any.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/support.h"
#include "model/change_text.h"
#include "model/process_table.h"

namespace tracewell::formats::test {
namespace {

using Kind = Change::Kind;

constexpr Kind kAllKinds[] = {Kind::ProcessKnown,   Kind::ProcessBegan,   Kind::ProcessEnded,
                              Kind::ProcessRuns,    Kind::ModuleLoaded,   Kind::ModuleUnloaded,
                              Kind::ThreadBegan,    Kind::ThreadEnded,    Kind::ThreadNamed};

const Process kWhole = {.id = ProcessId{1, 2},
                        .pid = 47,
                        .start_ns = 3,
                        .parent = 1,
                        .host = "h\xff",
                        .boot = "b",
                        .image = "/bin/\x1b[31m"};

/// Each kind of change, of a process that has each field.
TEST(JsonlProcesses, AllOfEachChangeIsReadBack) {
  Batch batch;
  for (const Kind kind : kAllKinds) {
    Event& event = batch.add();
    event.seq = 4;
    event.tid = 12;
    event.cpu = 1;
    event.time_ns = -5;
    event.process = 2;
    Change change{.kind = kind};
    if (kind == Kind::ThreadNamed) change.text = "worker\xfe";
    if (kind == Kind::ModuleLoaded || kind == Kind::ModuleUnloaded)
      change.module = batch.keep(Module{.path = "/lib/x.so", .bias = 1, .start = 2,
                                        .size_bytes = 3, .build_id = "ab", .hash = 9});
    if (kind == Kind::ProcessKnown || kind == Kind::ProcessBegan || kind == Kind::ProcessRuns)
      change.process = batch.keep(Process(kWhole));
    event.body = change;
  }
  Catalog catalog;
  catalog.processes = {{}, kWhole};
  ListSource source(catalog, batch.events());
  const std::string text = written(source, "jsonl");
  Opened opened(text);
  ASSERT_TRUE(opened.source);
  EXPECT_EQ(opened.source->catalog().processes, catalog.processes);
  Batch back;
  ASSERT_TRUE(*opened.source->next(back));
  EXPECT_TRUE(opened.problems->empty());
  ASSERT_EQ(back.size(), batch.size());
  for (size_t i = 0; i < back.size(); ++i) {
    const Event& got = back.events()[i];
    const Event& wanted = batch.events()[i];
    const auto& change = std::get<Change>(got.body);
    const auto& told = std::get<Change>(wanted.body);
    SCOPED_TRACE(change_name(told.kind));
    EXPECT_EQ(got.seq, 4u);
    EXPECT_EQ(got.tid, 12u);
    EXPECT_EQ(got.cpu, 1);
    EXPECT_EQ(got.time_ns, -5);
    EXPECT_EQ(got.process, 2u);
    EXPECT_EQ(change.kind, told.kind);
    EXPECT_EQ(change.text, told.text);
    ASSERT_EQ(change.process == nullptr, told.process == nullptr);
    if (told.process != nullptr) {
      EXPECT_EQ(*change.process, *told.process);
    }
    ASSERT_EQ(change.module == nullptr, told.module == nullptr);
    if (told.module == nullptr) continue;
    EXPECT_EQ(change.module->path, told.module->path);
    EXPECT_EQ(change.module->start, told.module->start);
    EXPECT_EQ(change.module->hash, told.module->hash);
  }
  const std::string again = converted(text, "jsonl");
  EXPECT_EQ(without_path(again), without_path(text));
}

TEST(JsonlProcesses, EveryKindHasItsName) {
  for (const Kind kind : kAllKinds) EXPECT_EQ(change_kind(change_name(kind)), kind);
  EXPECT_EQ(change_kind("process"), std::nullopt);
}

std::string told_of(const std::string& bytes, std::string_view format) {
  std::string told;
  const std::string out = converted(bytes, format, &told);
  EXPECT_FALSE(out.starts_with("error: ")) << out;
  return told;
}

constexpr std::string_view kTwo = "\"processes\":[{\"pid\":5},{\"pid\":6}]";
constexpr std::string_view kRefused =
    "the trace is of 2 processes, and the file will not say which of them an event is of";

TEST(JsonlProcesses, FormatsOfOneProcessRefuseSeveral) {
  const std::string frames =
      "{\"kind\":\"frame\",\"process\":1,\"tracepoint\":1,\"registers\":{\"rip\":\"0x1\"}}\n"
      "{\"kind\":\"frame\",\"process\":2,\"tracepoint\":1,\"registers\":{\"rip\":\"0x1\"}}\n";
  const std::string steps =
      "{\"kind\":\"step\",\"process\":1,\"pc\":\"0x10\",\"opcode\":\"90\"}\n"
      "{\"kind\":\"step\",\"process\":2,\"pc\":\"0x11\",\"opcode\":\"90\"}\n"
      "{\"kind\":\"change\",\"process\":2,\"change\":\"process-ended\"}\n";
  for (const char* format :
       {"tfile", "trace64", "tenet", "tvt", "folded", "modoff", "drcov"}) {
    SCOPED_TRACE(format);
    const bool of_frames = std::string_view(format) == "tfile";
    const std::string& events = of_frames ? frames : steps;
    const auto trace = [&](std::string_view processes) {
      return fmt::format("{{\"catalog\":{{\"machine\":\"x86-64\"{}{},\"modules\":[{{\"path\":\"m\","
                         "\"start\":\"0x10\",\"size\":16}}]}}}}\n{}",
                         processes.empty() ? "" : ",", processes, events);
    };
    EXPECT_NE(told_of(trace(kTwo), format).find(kRefused), std::string::npos);
    // Nobody knew it beforehand.
    const std::string late = told_of(trace(""), format);
    EXPECT_EQ(late.find(kRefused), std::string::npos);
    EXPECT_NE(late.find("left out: 1 event is of other processes than the first one"),
              std::string::npos)
        << late;
    const std::string one = told_of(trace("\"processes\":[{\"pid\":5}]"), format);
    EXPECT_EQ(one.find("of 1 processes"), std::string::npos);
    if (of_frames) continue;
    EXPECT_NE(late.find("left out: 1 change of a process, module or thread is left out"),
              std::string::npos)
        << late;
  }
  EXPECT_EQ(told_of("{\"catalog\":{\"machine\":\"x86-64\"," + std::string(kTwo) + "}}\n", "jsonl"),
            "");
}

/// Whoever picks lines out of a file leaves out some that say who a process is.
TEST(JsonlProcesses, LinesThatWerePickedOutStillHaveTheirPids) {
  const std::string text =
      "{\"catalog\":{}}\n"
      "{\"kind\":\"mark\",\"pid\":70,\"process\":3,\"text\":\"a\"}\n"
      "{\"kind\":\"mark\",\"pid\":71,\"text\":\"b\"}\n"
      "{\"kind\":\"mark\",\"process\":3,\"text\":\"c\"}\n"
      "{\"kind\":\"mark\",\"pid\":70,\"text\":\"d\"}\n";
  Opened opened(text);
  ASSERT_TRUE(opened.source);
  ProcessTable table(opened.source->catalog());
  std::string got;
  Batch batch;
  ASSERT_TRUE(*opened.source->next(batch));
  for (const Event& event : batch.events()) {
    table.learn(event);
    if (const auto* mark = std::get_if<Mark>(&event.body))
      got += fmt::format("{}:{}:{}:{} ", mark->text, event.seq, table.pid_of(event), event.process);
  }
  EXPECT_EQ(got, "a:0:70:3 b:1:71:4 c:2:70:3 d:3:70:3 ");
}

}  // namespace
}  // namespace tracewell::formats::test
