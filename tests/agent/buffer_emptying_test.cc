// A trace buffer is emptied: its memory goes back to the system beside whoever asked for it, who
// looks at its file finds nothing that is not so, and what needs memory waits.
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/buffer/buffer_memory.h"
#include "agent/buffer/pages_back.h"
#include "agent/buffer/trace_buffer.h"
#include "agent/session/session.h"
#include "engine_world.h"
#include "rsp/framing.h"
#include "scratch.h"
#include "target/fake/fake_target.h"

namespace tracewell::agent {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLarge = 64 << 20;

BufferFile new_file(const std::string& path) {
  auto file = BufferFile::create(path);
  EXPECT_TRUE(file.ok()) << file.error().text();
  return *std::move(file);
}

ring::Header header_at(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  ring::Header header;
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  return header;
}

void write_all(BufferMemory& memory) {
  for (uint64_t at = 0; at < memory.data_bytes(); at += ring::kPage) {
    ASSERT_TRUE(memory.ready(at + ring::kPage));
    memory.data()[at] = 7;
  }
}

int pages_written(const BufferMemory& memory) {
  int out = 0;
  for (uint64_t at = 0; at < memory.data_bytes(); at += ring::kPage) out += memory.data()[at] != 0;
  return out;
}

TEST(PagesBack, GoesOnUntilThereIsNoMore) {
  int left = 5;
  std::promise<void> told;
  PagesBack back;
  EXPECT_TRUE(back.ended());
  std::atomic<int> pieces = 0;
  back.on_piece([&] {
    if (++pieces == 5) told.set_value();
  });
  back.start([&] { return --left > 0; });
  told.get_future().wait();
  EXPECT_TRUE(back.ended());
  back.wait();
  EXPECT_EQ(left, 0);
}

/// There is always one more.
TEST(PagesBack, StopsBetweenTwoPieces) {
  std::atomic<int> done = 0;
  std::promise<void> begun, go_on;
  const auto may_go_on = go_on.get_future().share();
  auto back = std::make_unique<PagesBack>();
  back->start([&] {
    if (done++ == 0) begun.set_value();
    may_go_on.wait();
    return true;
  });
  begun.get_future().wait();
  EXPECT_FALSE(back->ended());
  std::thread end([&] { back.reset(); });
  go_on.set_value();
  end.join();
  const int after = done;
  std::this_thread::yield();
  EXPECT_EQ(done, after) << "nobody goes on";
}

/// With a file, or without one.
class Emptying : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(memory_->create(kLarge).ok());
    if (GetParam()) {
      ASSERT_TRUE(memory_->move_into(new_file(path_)).ok());
    }
  }
  const std::string path_ = test::scratch_path();
  std::unique_ptr<BufferMemory> memory_ = std::make_unique<BufferMemory>();
};

/// Until all of it has gone, who reads finds nothing; and then, what was written before no more.
TEST_P(Emptying, GivesBackBesideItsUser) {
  BufferMemory& memory = *memory_;
  write_all(memory);
  EXPECT_EQ(memory.bytes_to_come(), 0u);
  std::counting_semaphore<> told(0);
  memory.on_settled([&] { told.release(); });
  memory.begin_clear(kLarge);
  EXPECT_EQ(memory.header().end, kLarge);
  const bool is_back = memory.settled();
  EXPECT_EQ(memory.header().begin, is_back ? kLarge : UINT64_MAX);
  while (!memory.settled()) told.acquire();
  EXPECT_EQ(memory.header().begin, kLarge);
  EXPECT_EQ(pages_written(memory), 0);
  const uint64_t to_come = memory.bytes_to_come();
  EXPECT_TRUE(to_come == kLarge || (GetParam() && to_come == 0)) << to_come << ", 0 on a disk";
}

/// Who does not ask before waits, and does not write to what is on its way.
TEST_P(Emptying, IsWaitedForByWhoNeedsMemory) {
  BufferMemory& memory = *memory_;
  for (int i = 0; i < 3; ++i) {
    write_all(memory);
    memory.begin_clear(0);
    ASSERT_TRUE(memory.ready(1));
    memory.data()[0] = 7;
    EXPECT_TRUE(memory.settled());
    EXPECT_EQ(pages_written(memory), 1);
  }
}

/// In the middle of a piece, as a rule; its thread does not outlive the memory.
TEST_P(Emptying, EndsWithItsMemory) {
  write_all(*memory_);
  memory_->begin_clear(0);
  memory_.reset();
  EXPECT_FALSE(fs::exists(path_));
}

INSTANTIATE_TEST_SUITE_P(Buffer, Emptying, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "File" : "Memory"; });

/// Of another size a part of it may be where a text was.
TEST(EmptyBuffer, HasNoTextWhereFramesWillBe) {
  const std::string path = test::scratch_path();
  BufferMemory memory;
  ASSERT_TRUE(memory.create(1 << 16).ok());
  ASSERT_TRUE(memory.move_into(new_file(path)).ok());
  const std::vector<uint8_t> text(1 << 20, 't');
  ASSERT_TRUE(memory.describe(text).ok());
  ASSERT_TRUE(memory.create(4 << 20).ok());
  EXPECT_EQ(pages_written(memory), 0);
  ASSERT_TRUE(memory.describe(text).ok());
  EXPECT_EQ(pages_written(memory), 0);
}

/// Whoever has mapped it would find it cut. A reader of its text learns that it may have been
/// written over.
TEST(EmptyBuffer, HasAFileThatIsNeverCut) {
  const std::string path = test::scratch_path();
  BufferMemory memory;
  ASSERT_TRUE(memory.create(8 << 20).ok());
  ASSERT_TRUE(memory.move_into(new_file(path)).ok());
  const std::vector<uint8_t> text(1 << 16, 't');
  uint64_t length = 0, written = 0;
  const auto look = [&] {
    EXPECT_GE(fs::file_size(path), length);
    EXPECT_GT(header_at(path).texts_written, written);
    length = fs::file_size(path);
    written = header_at(path).texts_written;
  };
  for (const uint64_t size : {8 << 20, 1 << 16, 16 << 20, 1 << 10}) {
    ASSERT_TRUE(memory.create(size).ok());
    look();
    ASSERT_TRUE(memory.describe(text).ok());
    look();
    write_all(memory);
    memory.begin_clear(0);
    memory.settle();
    look();
    EXPECT_EQ(pages_written(memory), 0);
  }
}

/// Its positions go on: who looks for a frame of before finds that it is gone, not another one.
TEST(EmptyBuffer, NeverHasAPositionTwice) {
  const std::string path = test::scratch_path();
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(1000).ok());
  ASSERT_TRUE(buffer.move_into(new_file(path)).ok());
  buffer.set_circular(true);
  uint64_t end = 0;
  for (const uint64_t size : {1000, 1000, 3000, 700, 0, 700}) {
    if (size == buffer.size_bytes()) {
      buffer.clear();
    } else {
      ASSERT_TRUE(buffer.resize(size).ok());
    }
    const ring::Header empty = header_at(path);
    EXPECT_GE(empty.begin, end);
    EXPECT_EQ(empty.begin, empty.end);
    if (size == 0) continue;
    EXPECT_EQ(empty.begin % size, 0u) << "where its memory begins";
    const std::vector<uint8_t> blocks(13, 'V');
    for (int i = 0; i < 100; ++i) {
      FrameRecord record;
      record.pc = 0x1000;
      record.tid = i;
      ASSERT_TRUE(buffer.append(record, blocks));
      ASSERT_EQ(buffer.record(buffer.count() - 1).tid, i);
    }
    EXPECT_EQ(buffer.created(), 100u);
    EXPECT_EQ(buffer.count(), size / 40);
    end = header_at(path).end;
    EXPECT_EQ(end, empty.begin + 4000);
  }
}

/// As many frames as somebody has looked at, of a run before.
TEST(EmptyBuffer, HasNoFramesThatWereSeen) {
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(1000).ok());
  ASSERT_TRUE(buffer.move_into(new_file(test::scratch_path())).ok());
  ASSERT_TRUE(buffer.append({}, {}));
  EXPECT_TRUE(buffer.has_unseen());
  ASSERT_TRUE(buffer.frame(0).ok());
  EXPECT_FALSE(buffer.has_unseen());
  buffer.clear();
  ASSERT_TRUE(buffer.append({}, {}));
  EXPECT_TRUE(buffer.has_unseen());
}

/// An engine on a target that is told when memory is back.
class Unsettled : public Trace, public TraceControl {
 public:
  bool is_settled = true;
  std::vector<std::string> obeyed;

  Status reset() override { return note("reset"); }
  Status empty_for(std::optional<uint64_t>) override {
    is_settled = obeyed.empty() ? false : is_settled;
    return note("empty");
  }
  Status set_buffer_size(std::optional<uint64_t>) override { return note("size"); }
  Status start(target::Pid) override { return note("start"); }
  Status stop() override { return note("stop"); }

  const std::vector<TracepointDef>& tracepoints() const override { return none_; }
  const std::vector<VariableDef>& variables() const override { return no_variables_; }
  RunStatus status() const override { return {}; }
  std::optional<TracepointDef::Usage> usage(uint32_t, uint64_t) const override { return {}; }
  std::optional<int64_t> variable(uint32_t) const override { return {}; }
  FrameStore& frames() override { return frames_; }
  bool read_only(target::Pid, uint64_t, uint64_t) override { return false; }
  TraceControl* control() override { return this; }
  Status define(rsp::QtdpDefinition) override { return {}; }
  Status add_actions(const rsp::QtdpActions&) override { return {}; }
  target::Pid traced() const override { return 0; }
  void forget(uint32_t, uint64_t) override {}
  Status add_source(const rsp::SourcePiece&) override { return {}; }
  Status define_variable(VariableDef) override { return {}; }
  void set_variable(uint32_t, int64_t) override {}
  void set_read_only(std::vector<std::pair<uint64_t, uint64_t>>) override {}
  Status enable(uint32_t, uint64_t, bool) override { return {}; }
  std::vector<Marker> markers(target::Pid) override { return {}; }
  Status set_circular(bool) override { return {}; }
  void set_disconnected(bool) override {}
  void set_note(std::string_view, std::string) override {}
  void client_lost() override {}
  void on_event(const target::StopEvent&) override {}
  void let_go(target::Pid, bool) override {}

 private:
  Status note(std::string what) {
    obeyed.push_back(std::move(what));
    return {};
  }
  std::vector<TracepointDef> none_;
  std::vector<VariableDef> no_variables_;
  struct Frames final : FrameStore {
    explicit Frames(const bool& settled) : is(settled) {}
    uint64_t count() const override { return 0; }
    Result<Frame> frame(uint64_t) override { return Frame{}; }
    Result<std::optional<uint64_t>> find(const rsp::FrameSelect&, uint64_t,
                                         const GoOn&) override {
      return {std::nullopt};
    }
    uint64_t stream_bytes() const override { return 0; }
    Result<std::vector<uint8_t>> read_stream(uint64_t, size_t) override {
      return std::vector<uint8_t>{};
    }
    bool settled() override { return is; }
    const bool& is;
  } frames_{is_settled};
};

class Postponed : public ::testing::Test {
 protected:
  Postponed() {
    for (const char* line : {"process 7", "thread 7.7 main"})
      EXPECT_TRUE(target_.learn(line).ok());
    session_ = std::make_unique<Session>(target_, &trace_, SessionOptions{});
    say("QStartNoAckMode");
    session_->take_output();
    feed("+");
  }
  void feed(std::string_view text) { session_->feed(as_bytes(text)); }
  void say(std::string_view packet) { feed(rsp::frame(packet, false)); }
  std::string heard() { return session_->take_output(); }
  std::string again() {
    (void)session_->proceed();
    return heard();
  }

  target::FakeTarget target_;
  Unsettled trace_;
  std::unique_ptr<Session> session_;
  const std::string ok_ = rsp::frame("OK", false);
};

TEST_F(Postponed, PacketsWaitInTheirOrder) {
  for (const char* packet : {"QTStart", "QTinit"}) {
    trace_.is_settled = false;
    trace_.obeyed.clear();
    say(packet);
    say("qC");
    EXPECT_EQ(heard(), "");
    EXPECT_TRUE(session_->postponed.has_value());
    EXPECT_EQ(again(), "");
    trace_.is_settled = true;
    EXPECT_EQ(again(), ok_ + rsp::frame("QC7", false));
    EXPECT_FALSE(session_->postponed.has_value());
    EXPECT_EQ(trace_.obeyed.size(), 1u) << packet;
  }
}

TEST_F(Postponed, ASizeWaitsOnceItsFramesHaveGone) {
  say("QTBuffer:size:1000");
  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(session_->postponed.has_value());
  trace_.is_settled = true;
  EXPECT_EQ(again(), ok_);
  EXPECT_EQ(trace_.obeyed, (std::vector<std::string>{"empty", "empty", "size"}));
}

TEST_F(Postponed, OthersDoNotWait) {
  trace_.is_settled = false;
  say("QTStop");
  say("QTBuffer:circular:1");
  EXPECT_EQ(heard(), ok_ + ok_);
  EXPECT_FALSE(session_->postponed.has_value());
}

}  // namespace
}  // namespace tracewell::agent
