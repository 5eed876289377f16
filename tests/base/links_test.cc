#include "base/links.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace tracewell {
namespace {

namespace fs = std::filesystem;

class Links : public testing::Test {
 protected:
  Links() {
    std::string name = testing::TempDir() + "links.XXXXXX";
    folder_ = mkdtemp(name.data());
    fs::create_directory(folder_ + "/elsewhere");
  }
  ~Links() override { fs::remove_all(folder_); }

  std::string folder_;
};

TEST_F(Links, LeadToTheirEndWhetherItIsThereOrNot) {
  fs::create_symlink("elsewhere/target", folder_ + "/first");
  fs::create_symlink(folder_ + "/first", folder_ + "/second");
  fs::create_symlink("../second", folder_ + "/elsewhere/third");
  for (const bool there : {false, true}) {
    if (there) std::ofstream(folder_ + "/elsewhere/target") << "text";
    for (const char* name : {"/first", "/second", "/elsewhere/third", "/elsewhere/target"}) {
      const auto end = end_of_links(folder_ + name);
      ASSERT_TRUE(end) << name;
      EXPECT_TRUE(fs::path(*end).lexically_normal() == folder_ + "/elsewhere/target") << *end;
    }
  }
  EXPECT_EQ(*end_of_links("-"), "-");
  EXPECT_EQ(*end_of_links(folder_ + "/none"), folder_ + "/none");
}

TEST_F(Links, EndAtOpenFiles) {
  fs::create_symlink("/proc/self/fd/1", folder_ + "/out");
  EXPECT_EQ(*end_of_links(folder_ + "/out"), "/proc/self/fd/1");
  EXPECT_TRUE(is_open_file("/proc/self/fd/1"));
  EXPECT_FALSE(is_open_file(folder_ + "/out"));
  EXPECT_FALSE(is_open_file(folder_));
}

TEST_F(Links, ThatGoRoundAreAnError) {
  fs::create_symlink("b", folder_ + "/a");
  fs::create_symlink("a", folder_ + "/b");
  const auto end = end_of_links(folder_ + "/a");
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Errc::Io);
}

}  // namespace
}  // namespace tracewell
