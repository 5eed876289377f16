// Several readers of one file at once: each tells what a reader alone tells of the same steps.
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "formats/trace64/model.h"

namespace tracewell::formats::test {
namespace {

constexpr size_t kSteps = 4000;

std::string told(std::span<const Step::RegisterChange> changes) {
  std::string out;
  for (const auto& change : changes)
    out += std::to_string(change.index) + "=" + to_hex(change.value) + " ";
  return out;
}

/// What the next kSteps steps tell, a line each.
std::vector<std::string> read(Source& source) {
  std::vector<std::string> out;
  Batch batch;
  while (out.size() < kSteps && *source.next(batch)) {
    for (const Event& event : batch.events()) {
      const auto& step = std::get<Step>(event.body);
      out.push_back(std::to_string(event.seq) + " in " + std::to_string(event.tid) + ": " +
                    to_hex(step.opcode) + " " + told(step.before) + "-> " + told(step.registers));
      for (const Step::MemoryAccess& one : step.memory)
        out.back() += std::to_string(one.address) + ":" + to_hex(one.old_bytes) + " ";
    }
  }
  return out;
}

TEST(Trace64Readers, SeveralGoInParallel) {
  RandomProgram program(11, true, 3, 5);
  Opened opened(head(kJson64) + record(program.run(20000), {}), "trace64");
  StepIndex& index = *opened.source->steps();
  const auto keyframes = index.keyframes();
  std::vector<std::vector<std::string>> alone(4), together(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < alone.size(); ++i)
    alone[i] = read(**index.open_at(keyframes[i * (keyframes.size() / 4)]));
  for (size_t i = 0; i < together.size(); ++i) {
    auto reader = index.open_at(keyframes[i * (keyframes.size() / 4)]);
    ASSERT_TRUE(reader.ok());
    threads.emplace_back(
        [&lines = together[i], source = *std::move(reader)] { lines = read(*source); });
  }
  for (std::thread& one : threads) one.join();
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_GE(alone[i].size(), kSteps);
    EXPECT_EQ(alone[i], together[i]) << i;
  }
}

}  // namespace
}  // namespace tracewell::formats::test
