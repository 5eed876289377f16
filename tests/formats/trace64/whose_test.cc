// Whose an x64dbg trace is: a user block of ours behind the last step says it of all steps.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/random_steps.h"
#include "formats/trace64/model.h"
#include "formats/trace64/read_back.h"
#include "formats/trace64/sums.h"
#include "formats/trace64/state/process.h"

namespace tracewell::formats::test {
namespace {

const Process kTraced = {.id = ProcessId{1, 2},
                         .pid = 70,
                         .start_ns = 10'000'000,
                         .parent = 3,
                         .host = "host",
                         .boot = "0123456789abcdef",
                         .image = "C:\\a.exe"};

RandomSteps some_steps() {
  return RandomSteps(4, {.threads = 2, .opcodes = true, .registers = {"rax", "rsp"}});
}

/// The steps of `made`, each of what `of` says for its number.
template <class Of>
std::string saved_of(RandomSteps& made, Of&& of, std::string* told = nullptr) {
  std::vector<Event> events(made.events().events().begin(), made.events().events().end());
  for (Event& event : events) event.process = of(event.seq);
  ListSource source(made.catalog, events);
  return written(source, "trace64", told);
}

/// Each event's process.
std::vector<uint32_t> processes_of(Source& source) {
  std::vector<uint32_t> out;
  Batch batch;
  while (*source.next(batch))
    for (const Event& event : batch.events()) out.push_back(event.process);
  return out;
}

TEST(Trace64Whose, AllStepsAreOfTheProcess) {
  RandomSteps made = some_steps();
  made.catalog.processes = {kTraced};
  const std::string bytes = saved_of(made, [](uint64_t) { return 1; });
  Opened opened(bytes, "trace64");
  ASSERT_TRUE(opened.source) << opened.error;
  EXPECT_EQ(opened.problems->count(), 0u);
  EXPECT_EQ(opened.source->catalog().processes, std::vector{kTraced});
  for (const uint32_t one : processes_of(*opened.source)) EXPECT_EQ(one, 1u);
  const auto later = opened.source->steps()->open_at(3);
  EXPECT_EQ(processes_of(**later)[0], 1u);
  EXPECT_TRUE(converted(bytes, "trace64") == bytes);
  EXPECT_TRUE(converted(converted(bytes, "jsonl"), "trace64") == bytes);
}

TEST(Trace64Whose, NobodyIsMadeUp) {
  RandomSteps made = some_steps();
  made.catalog.processes = {kTraced};
  std::string told;
  const Opened mixed(saved_of(made, [](uint64_t seq) { return seq == 5 ? 0 : 1; }, &told));
  EXPECT_TRUE(mixed.source->catalog().processes.empty());
  EXPECT_NE(told.find("whose some events are is not known"), std::string::npos) << told;
  made.catalog.processes = {{.pid = 69}, kTraced};
  const Opened two(saved_of(made, [](uint64_t seq) { return seq == 5 ? 1 : 2; }));
  EXPECT_TRUE(two.source->catalog().processes.empty());
  const Opened second(saved_of(made, [](uint64_t) { return 2; }));
  EXPECT_EQ(second.source->catalog().processes, std::vector{kTraced});
}

/// By x64dbg, of whatever it has traced then.
TEST(Trace64Whose, StepsThatWereAppendedAreNobodys) {
  RandomSteps made = some_steps();
  made.catalog.processes = {kTraced};
  const std::string bytes = saved_of(made, [](uint64_t) { return 1; });
  const std::string longer = bytes + full_block(1, {{16, 0x10}}).bytes();
  Opened opened(longer, "trace64");
  ASSERT_TRUE(opened.source) << opened.error;
  EXPECT_TRUE(opened.source->catalog().processes.empty());
  for (const uint32_t one : processes_of(*opened.source)) EXPECT_EQ(one, 0u);
}

TEST(Trace64Whose, OlderProgramsGetNoBlock) {
  RandomSteps made = some_steps();
  made.catalog.processes = {kTraced};
  std::vector<Event> events(made.events().events().begin(), made.events().events().end());
  for (Event& event : events) event.process = 1;
  ListSource steps(made.catalog, events);
  const Opened opened(saved(steps, {.compat = true, .style = ""}), "trace64");
  EXPECT_TRUE(opened.source->catalog().processes.empty());
}

TEST(Trace64Whose, TheBlockMayBeCutAndMayGrow) {
  std::vector<uint8_t> data = trace64::render_process(kTraced);
  for (size_t size = 0; size < data.size(); ++size)
    EXPECT_FALSE(trace64::read_process(Bytes(data).first(size))) << size;
  EXPECT_EQ(trace64::read_process(data), kTraced);
  data.push_back(1);  // of a release to come
  EXPECT_EQ(trace64::read_process(data), kTraced);
}

}  // namespace
}  // namespace tracewell::formats::test
