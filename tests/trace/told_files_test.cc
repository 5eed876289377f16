#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "trace/lost_files.h"
#include "trace/told_problems.h"

namespace tracewell::trace {
namespace {

// `diff` opens both of its traces at once.
TEST(TraceFiles, AreNotedByTwoThreadsAtOnce) {
  const std::string path = testing::TempDir() + "noted";
  std::ofstream(path) << "x";
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 5000; ++n) {
        const auto file = InputFile::open(path);
        ASSERT_TRUE(file.ok());
        note_trace_file(**file);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(tell_lost_files(Work()));
}

}  // namespace
}  // namespace tracewell::trace
