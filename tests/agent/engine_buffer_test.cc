// The engine's side of a buffer that outlives it: when there is a file, and what it says.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine_world.h"
#include "ring/layout.h"
#include "scratch.h"

namespace tracewell::agent::test {
namespace {

namespace fs = std::filesystem;

class EngineBuffer : public EngineTest {
 protected:
  void SetUp() override {
    engine.keep_buffer_in({.make = [this] { ++asked; return BufferFile::create(path); },
                           .describe =
                               [this](const Catalog& catalog) {
                                 ++described;
                                 now_ns += takes;
                                 return describe(catalog);
                               },
                           .notice = [this](std::string_view line) { said.emplace_back(line); },
                           .server_pid = 4711});
  }
  static std::vector<uint8_t> describe(const Catalog& catalog) {
    std::string text = fmt::format("{}, stop {}, {} hits", catalog.status->running ? "runs" : "ran",
                                   static_cast<int>(catalog.status->stop),
                                   catalog.tracepoints.empty()
                                       ? 0
                                       : catalog.tracepoints[0].usage->hits);
    for (const TracepointDef& one : catalog.tracepoints)
      text += fmt::format(", {}{}", one.number, one.enabled ? "" : " off");
    return {text.begin(), text.end()};
  }
  std::vector<uint8_t> content() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  ring::Header header() const {
    const auto bytes = content();
    ring::Header out;
    std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  }
  std::string text() const {
    const auto bytes = content();
    const ring::Header head = header();
    const ring::Text& at = head.texts[head.text_current];
    return {bytes.begin() + at.offset, bytes.begin() + at.offset + at.size};
  }

  const std::string path = scratch_path();
  int asked = 0, described = 0;
  int64_t takes = 0;  // to describe
  std::vector<std::string> said;
};

TEST_F(EngineBuffer, IsMadeByTheFirstRun) {
  ASSERT_TRUE(engine.reset().ok());
  ASSERT_TRUE(define("1:1000:E:0:0").ok());
  EXPECT_EQ(asked, 0);
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(said, (std::vector<std::string>{"Trace buffer: " + path}));
  EXPECT_EQ(header().agent_pid, 4711);
  ASSERT_TRUE(engine.stop().ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(asked, 1);
}

TEST_F(EngineBuffer, SaysHowTheRunStands) {
  trace("R01");
  EXPECT_EQ(text(), "runs, stop 0, 0 hits, 1");
  hit();
  EXPECT_EQ(header().next, 1u);
  EXPECT_EQ(text(), "runs, stop 0, 0 hits, 1") << "no system call a hit";
  ASSERT_TRUE(engine.enable(1, 0x1000, false).ok());
  EXPECT_EQ(text(), "runs, stop 0, 1 hits, 1 off");
  ASSERT_TRUE(define("2:1008:E:0:0").ok());
  EXPECT_EQ(text(), "runs, stop 0, 1 hits, 1 off, 2");
  ASSERT_TRUE(engine.stop().ok());
  EXPECT_EQ(text(), "ran, stop 1, 1 hits, 1 off, 2");
}

/// A debugger defines all again for each library that a program loads.
TEST_F(EngineBuffer, ManyDefinitionsAreNotToldOneByOne) {
  constexpr int kMany = 100;
  trace("R01");
  takes = 1000;
  described = 0;
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(define(fmt::format("2:{:x}:E:0:0", 0x2000 + 8 * i)).ok());
    now_ns += 100;
  }
  EXPECT_LE(described, 1 + kMany * 100 / (9 * takes) + 1);
  hit();
  EXPECT_TRUE(text().ends_with(", 2")) << text();
  EXPECT_EQ(std::ranges::count(text(), '2'), kMany) << "before any frame, all are told";
  const int before = described;
  hit();
  EXPECT_EQ(described, before);
}

TEST_F(EngineBuffer, SaysThatItWasFull) {
  ASSERT_TRUE(engine.set_buffer_size(60).ok());
  trace("R01");
  hit();
  hit();
  EXPECT_EQ(text(), "ran, stop 2, 2 hits, 1");
  EXPECT_EQ(header().next, 1u);
}

TEST_F(EngineBuffer, IsEmptiedByResetAndSize) {
  trace("R01");
  hit();
  ASSERT_TRUE(engine.stop().ok());
  ASSERT_TRUE(engine.set_buffer_size(1000).ok());
  EXPECT_EQ(header().next, 0u);
  EXPECT_EQ(header().data_bytes, 1000u);
  EXPECT_EQ(text(), "ran, stop 1, 1 hits, 1");
  ASSERT_TRUE(engine.reset().ok());
  EXPECT_EQ(text(), "ran, stop 1, 0 hits");
  trace("R01");
  hit();
  EXPECT_EQ(header().next, 1u);
}

/// Whoever lets go of the program, or ends the server, may want its frames. Who kills it does not.
TEST_F(EngineBuffer, StaysWithFramesThatNobodyHasSeen) {
  for (const bool unwanted : {false, true})
    for (const bool seen : {false, true}) {
      const std::string mine = scratch_path();
      {
        Engine one(world);
        one.keep_buffer_in({.make = [&] { return BufferFile::create(mine); },
                            .describe = describe,
                            .notice = [this](std::string_view line) { said.emplace_back(line); }});
        ASSERT_TRUE(one.define(*rsp::parse_qtdp_definition("1:1000:E:0:0")).ok());
        ASSERT_TRUE(one.start(kPid).ok());
        Hit hit(world, 0x1000);
        one.on_hit(hit);
        said.clear();
        one.let_go(kPid, unwanted);
        if (seen) {
          ASSERT_TRUE(one.frames().frame(0).ok());
        }
        one.keep_unseen(false);
        EXPECT_TRUE(said.empty()) << "it may be more by then";
        one.keep_unseen(true);
      }
      const bool stays = !unwanted && !seen;
      EXPECT_EQ(fs::exists(mine), stays);
      ASSERT_EQ(said.size(), stays ? 1u : 0u);
      if (stays) {
        EXPECT_TRUE(said[0].starts_with("1 frames that nobody")) << said[0];
      }
      fs::remove(mine);
    }
}

TEST_F(EngineBuffer, IsMemoryWhereThereCanBeNoFile) {
  std::ofstream(path) << "taken";
  trace("R01");
  hit();
  EXPECT_EQ(engine.frames().count(), 1u);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].starts_with("No trace buffer that outlives this server: ")) << said[0];
  ASSERT_TRUE(engine.reset().ok());
  trace("R01");
  EXPECT_EQ(asked, 1) << "asked once only";
  fs::remove(path);
}

}  // namespace
}  // namespace tracewell::agent::test
