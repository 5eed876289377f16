// Names of files that a test may make.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracewell::agent::test {

/// Where there is no file yet, in a place that is in memory if the machine has one.
inline std::string scratch_path() {
  static int number = 0;
  const bool shm = std::filesystem::exists("/dev/shm");
  return fmt::format("{}/test_agent.{}.{}", shm ? "/dev/shm" : testing::TempDir(), getpid(),
                     ++number);
}

}  // namespace tracewell::agent::test
