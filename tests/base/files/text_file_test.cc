#include "base/files/text_file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace tracewell {
namespace {

namespace fs = std::filesystem;

TEST(TextFile, IsWhatItWasWhenItWasReadAndBounded) {
  const std::string path = fs::temp_directory_path() / ("text_file_" + std::to_string(::getpid()));
  std::ofstream(path) << "one\n";
  const auto text = read_text_file(path);
  ASSERT_TRUE(text.ok());
  std::fstream(path) << "two";
  EXPECT_EQ(*text, "one\n");
  EXPECT_EQ(read_text_file(path).value_or(""), "two\n");
  fs::resize_file(path, kTextFileMax + 1);  // a hole
  const auto large = read_text_file(path);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, Errc::Limit);
  EXPECT_NE(large.error().message.find("more than 67108864 bytes"), std::string::npos);
  fs::remove(path);
}

TEST(TextFile, ADeviceWithoutEndIsBounded) {
  const auto zeros = read_text_file("/dev/zero");
  ASSERT_FALSE(zeros.ok());
  EXPECT_EQ(zeros.error().code, Errc::Limit);
}

}  // namespace
}  // namespace tracewell
