// Who reads the file of a trace buffer while it is written, at moments that a test chooses.
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/buffer/trace_buffer.h"
#include "formats/format.h"

namespace tracewell::server {
namespace {

class BufferReading : public ::testing::Test {
 protected:
  BufferReading() {
    auto file = agent::BufferFile::create(path_);
    EXPECT_TRUE(file.ok());
    EXPECT_TRUE(buffer_.resize(4000).ok());
    EXPECT_TRUE(buffer_.move_into(*std::move(file)).ok());
  }
  void add(int frames) {
    agent::FrameRecord record;
    record.tracepoint = 1;
    record.tid = 7;
    for (int i = 0; i < frames; ++i) EXPECT_TRUE(buffer_.append(record, {}));
  }
  std::unique_ptr<Source> open() {
    auto file = InputFile::open(path_);
    EXPECT_TRUE(file.ok());
    auto source = formats::open_source(*std::move(file), "tracebuffer", {}, problems_);
    EXPECT_TRUE(source.ok()) << source.error().text();
    return *std::move(source);
  }
  /// Of frames, and of those that are gone.
  static std::pair<int, int> events(Source& source) {
    Batch batch;
    std::pair<int, int> out;
    for (;;) {
      const auto more = source.next(batch);
      EXPECT_TRUE(more.ok());
      if (!more || !*more) return out;
      for (const Event& event : batch.events())
        ++(std::holds_alternative<Lost>(event.body) ? out.second : out.first);
    }
  }

  const std::string path_ = fmt::format("{}buffer-{}.twb", ::testing::TempDir(), getpid());
  agent::TraceBuffer buffer_;
  ProblemLog problems_;
};

/// `end` had moved on since the numbers of frames were read.
TEST_F(BufferReading, CountsAsManyAsItHas) {
  add(10);
  ring::publish(buffer_.memory().header().next, uint64_t{6});
  const auto source = open();
  EXPECT_EQ(source->catalog().status->frames_created, 10u);
  EXPECT_EQ(events(*source), std::pair(10, 0));
  EXPECT_EQ(problems_.count(), 0u);
}

/// Emptied once it was opened: the new frames are not taken for the old ones.
TEST_F(BufferReading, FindsOldFramesGoneAndNoOthers) {
  add(10);
  const auto source = open();
  buffer_.clear();
  EXPECT_EQ(events(*source), std::pair(0, 10));
  add(10);
  ASSERT_TRUE(source->seekable() != nullptr && source->seekable()->seek(0).ok());
  EXPECT_EQ(events(*source), std::pair(0, 10));
  EXPECT_EQ(problems_.count(Problem::Severity::Damage), 0u);
}

}  // namespace
}  // namespace tracewell::server
