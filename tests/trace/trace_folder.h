// A folder with copies of a small trace, so that nothing is left beside the original.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "model/work.h"

namespace tracewell::trace::test {

class TraceFolder : public testing::Test {
 protected:
  TraceFolder()
      : folder_(std::filesystem::temp_directory_path() / ("trace-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    work_.notice = [told = told_](std::string_view one) { told->emplace_back(one); };
  }
  ~TraceFolder() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Two threads, nine steps: 7 pushes 0x2a, calls, reads it back, and stores two bytes beside it.
  std::string steps(const std::string& name = "steps.jsonl") const {
    const auto from = std::filesystem::path(TRACEWELL_SOURCE_DIR) / "tests/cli/steps.jsonl";
    std::filesystem::copy_file(from, path(name),
                               std::filesystem::copy_options::overwrite_existing);
    return path(name);
  }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
  std::shared_ptr<std::vector<std::string>> told_ = std::make_shared<std::vector<std::string>>();
  Work work_;
};

}  // namespace tracewell::trace::test
