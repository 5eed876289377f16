// A front end of its own, as a viewer or a server would be one: it opens each kind of trace, asks
// the questions of trace/, and gets values; it parses no text and knows no command.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "../../bench/trace64_file.h"
#include "sanitized.h"
#include "timeline/diff/diff.h"
#include "trace/open_steps.h"
#include "trace/questions/calls.h"
#include "trace/questions/check.h"
#include "trace/questions/find.h"
#include "trace/questions/moment.h"
#include "trace/step_trace.h"

namespace tracewell::trace::test {
namespace {

using What = FindQuestion::What;
namespace fs = std::filesystem;

#ifdef TRACEWELL_SANITIZED
constexpr uint64_t kManySteps = 300'000;
constexpr std::chrono::milliseconds kSoon(5000);
#else
constexpr uint64_t kManySteps = 2'000'000;
constexpr std::chrono::milliseconds kSoon(200);
#endif

const fs::path kTests = fs::path(TRACEWELL_SOURCE_DIR) / "tests";
/// Two threads: 7 pushes 0x2a, calls, reads it back and stores two bytes beside it; 8 changes it.
const fs::path kSteps = kTests / "cli/steps.jsonl";

/// A copy, so that no index is left beside the original.
class FrontEnd : public testing::Test {
 protected:
  FrontEnd() : folder_(fs::temp_directory_path() / ("front-end-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~FrontEnd() override { fs::remove_all(folder_); }

  std::string copy(const fs::path& path) {
    const fs::path to = folder_ / path.filename();
    fs::copy_file(path, to, fs::copy_options::overwrite_existing);
    return to.string();
  }
  fs::path tfile_of(const fs::path& path) {
    const fs::path to = folder_ / "frames.tf";
    auto trace = open_trace({.path = path.string()}, work_);
    auto sink = formats::find_format("tfile")->create(*OutputFile::create(to.string()), {});
    EXPECT_TRUE(pump(*trace->source, **sink).ok());
    return to;
  }
  StepTrace open(const fs::path& path) {
    auto trace = open_step_trace({.path = copy(path)}, {}, work_);
    EXPECT_TRUE(trace.ok()) << trace.error().text();
    return *std::move(trace);
  }
  std::string large(uint64_t steps) {
    const std::string path = (folder_ / "large.trace64").string();
    EXPECT_TRUE(bench::Trace64File::write(path, steps).ok());
    return path;
  }

  Work work_;
  fs::path folder_;
};

std::vector<uint64_t> steps_of(const StepTrace& trace, const FindQuestion& question,
                               const Work& work = {}) {
  std::vector<uint64_t> out;
  const auto take = [&](const Hit& hit) {
    out.push_back(std::get<StepHit>(hit).step.seq);
    return true;
  };
  const Status done = find(trace, question, take, work);
  EXPECT_TRUE(done.ok()) << done.error().text();
  return out;
}

FindQuestion about(What what, uint64_t address) {
  FindQuestion out;
  out.what = what;
  out.range = {address, address};
  return out;
}

TEST_F(FrontEnd, OpensEachKindOfTrace) {
  struct Sample {
    fs::path path;
    std::string_view format;
    uint64_t records;
  };
  const Sample samples[] = {
      {kSteps, "jsonl", 9},
      {kTests / "formats/data/synthetic_single.trace64", "trace64", 0},
      {kTests / "formats/tracebuffer/two-frames/input.twb", "tracebuffer", 2},
      {kTests / "formats/hooklog/all-kinds/input.hooks", "hooklog", 0},
      {kTests / "formats/tenet/log/input.tenet", "tenet", 0},
      {kTests / "formats/tvt/rows/input.tvt", "tvt", 0},
      {tfile_of(kTests / "formats/tracebuffer/two-frames/input.twb"), "tfile", 2},
  };
  for (const Sample& one : samples) {
    const InputOptions input{.path = one.path.string()};
    auto trace = open_trace(input, work_);
    ASSERT_TRUE(trace.ok()) << one.path << trace.error().text();
    const auto told = info(*trace, input.path, {}, work_);
    ASSERT_TRUE(told.ok()) << one.path;
    EXPECT_EQ(told->format, one.format);
    EXPECT_GT(told->records, 0u) << one.path;
    if (one.records != 0) {
      EXPECT_EQ(told->records, one.records);
    }

    auto again = open_trace(input, work_, {.anew = true});
    const auto report = check(*again, {}, work_);
    ASSERT_TRUE(report.ok()) << one.path;
    EXPECT_EQ(report->events, told->records) << one.path;
  }
}

TEST_F(FrontEnd, FindsWhoDidIt) {
  const StepTrace trace = open(kSteps);
  EXPECT_EQ(steps_of(trace, about(What::Executions, 0x1101)), std::vector<uint64_t>({5}));
  EXPECT_EQ(steps_of(trace, about(What::Writes, 0x7000)), std::vector<uint64_t>({0, 4}));
  FindQuestion changes;
  changes.what = What::RegisterChanges;
  changes.register_name = "rsp";
  EXPECT_EQ(steps_of(trace, changes), std::vector<uint64_t>({0, 1, 7}));

  FindQuestion values;
  values.what = What::Values;
  values.numbers = *parse_number_range("0x2b");
  values.backward = true;
  std::vector<FoundValue> found;
  ASSERT_TRUE(find(trace, values,
                   [&](const Hit& hit) {
                     found.push_back(std::get<FoundValue>(std::get<StepHit>(hit).found));
                     return true;
                   },
                   work_)
                  .ok());
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].register_name, "rax");
  EXPECT_FALSE(found[1].before);

  FindQuestion bytes;
  bytes.what = What::MemoryBytes;
  bytes.bytes = {0x68, 0x69};
  std::optional<MemoryHit> hit;
  ASSERT_TRUE(find(trace, bytes,
                   [&](const Hit& one) {
                     hit = std::get<MemoryHit>(one);
                     return false;
                   },
                   work_)
                  .ok());
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->where.address, 0x7008u);
  EXPECT_EQ(hit->written_by->seq, 6u);
}

TEST_F(FrontEnd, ShowsAMoment) {
  const StepTrace trace = open(kSteps);
  auto moment = Moment::open(trace, 5, std::nullopt, work_);
  ASSERT_TRUE(moment.ok());
  EXPECT_EQ(moment->thread(), 7u);
  EXPECT_EQ(moment->step()->pc, 0x1101u);
  EXPECT_EQ((*moment->register_named("rax")->bytes)[0], 0x2a);
  EXPECT_FALSE(moment->register_named("rcx")->bytes);
  EXPECT_EQ(*moment->address("$rsp+8"), 0x7000u);
  const KnownMemory memory = *moment->memory(0x7000, 2);
  EXPECT_EQ(memory.bytes[0], 0x2b);
  EXPECT_EQ(memory.states[0], ByteState::Told);
  EXPECT_EQ(moment->stack(8)->depth, 1u);
  EXPECT_EQ(Moment::open(trace, 10, std::nullopt, work_).error().stable_code(), "no-such-step");
}

TEST_F(FrontEnd, FollowsCalls) {
  const StepTrace trace = open(kSteps);
  std::vector<FoundCall> found;
  const auto all = calls(trace, {},
                         [&](const FoundCall& call) {
                           found.push_back(call);
                           return true;
                         },
                         work_);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(*all, 1u);
  EXPECT_EQ(found[0].call.function, 0x1100u);
  EXPECT_EQ(found[0].caller->pc, 0x1001u);
}

TEST_F(FrontEnd, ComparesTwoRuns) {
  const InputOptions input{.path = copy(kSteps)};
  auto a = with_steps(*open_trace(input, work_), input, work_);
  auto b = with_steps(*open_trace(input, work_), input, work_);
  ASSERT_TRUE(a.ok() && b.ok());
  const auto report = timeline::diff(a->side(), b->side(), {});
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->same());
}

TEST_F(FrontEnd, AsksTwoQuestionsAtATime) {
  const std::string path = large(100'000);
  const auto opened = open_step_trace({.path = path}, {}, work_);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  const StepTrace& trace = *opened;
  FindQuestion values;
  values.what = What::Values;
  values.numbers = {false, 0, 0xff};
  values.to = 20'000;
  const FindQuestion writes = about(What::Writes, bench::kOnceWritten);
  const auto ask = [&] {
    std::vector<uint64_t> out = steps_of(trace, values);
    for (const uint64_t step : steps_of(trace, writes)) out.push_back(step);
    for (uint64_t step = 0; step < 50'000; step += 5'000) {
      auto moment = Moment::open(trace, step, std::nullopt, work_);
      EXPECT_TRUE(moment.ok());
      out.push_back(moment->step()->pc);
      out.push_back(moment->stack(4)->depth);
    }
    return out;
  };
  const std::vector<uint64_t> alone = ask();
  auto one = std::async(std::launch::async, ask);
  auto other = std::async(std::launch::async, ask);
  EXPECT_EQ(one.get(), alone);
  EXPECT_EQ(other.get(), alone);
  EXPECT_TRUE(trace.answers_hold().ok());
}

/// From the moment at which nobody waits any more to the answer.
std::chrono::milliseconds until_it_ends(const std::function<Status(const Work&)>& question) {
  using Clock = std::chrono::steady_clock;
  std::atomic<bool> stop = false;
  Work work;
  work.stop = [&] { return stop.load(); };
  auto answer = std::async(std::launch::async, [&] { return question(work); });
  // A question that ends before it is stopped shows nothing.
  EXPECT_EQ(answer.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  stop = true;
  const Clock::time_point stopped = Clock::now();
  const Status status = answer.get();
  EXPECT_FALSE(status.ok());
  if (!status.ok()) {
    EXPECT_EQ(status.error().code, Errc::Stopped) << status.error().text();
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - stopped);
}

TEST_F(FrontEnd, StopsAtOnce) {
  const std::string path = large(kManySteps);
  const InputOptions input{.path = path};
  EXPECT_LE(until_it_ends([&](const Work& work) -> Status {
              TW_RETURN_IF_ERROR(open_step_trace(input, {}, work));
              return {};
            }),
            kSoon)
      << "the index";
  const auto trace = open_step_trace(input, {}, work_);
  ASSERT_TRUE(trace.ok());
  FindQuestion nothing;
  nothing.what = What::Values;
  nothing.numbers = {false, 0x123456789abcdef, 0x123456789abcdef};
  const auto ignore = [](const Hit&) { return true; };
  EXPECT_LE(until_it_ends([&](const Work& work) { return find(*trace, nothing, ignore, work); }),
            kSoon)
      << "find";
  EXPECT_LE(until_it_ends([&](const Work& work) -> Status {
              TW_ASSIGN_OR_RETURN(OpenTrace again, open_trace(input, work, {.anew = true}));
              TW_RETURN_IF_ERROR(check(again, {}, work));
              return {};
            }),
            kSoon)
      << "check";
  EXPECT_LE(until_it_ends([&](const Work& work) -> Status {
              timeline::DiffOptions options;
              options.work = work;
              TW_RETURN_IF_ERROR(timeline::diff(trace->side(), trace->side(), options));
              return {};
            }),
            kSoon)
      << "diff";
}

}  // namespace
}  // namespace tracewell::trace::test
