// What control groups leave to a process, from files as the kernel has them.
#include "target/linux/kernel/control_groups.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace tracewell::target::live {
namespace {

namespace fs = std::filesystem;

class ControlGroups : public ::testing::Test {
 protected:
  ControlGroups() {
    std::string path = testing::TempDir() + "groups.XXXXXX";
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    root_ = path;
  }
  ~ControlGroups() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    const fs::path path = root_ + "/" + file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void second(const std::string& group, const std::string& limit, const std::string& used,
              const std::string& stat = "") {
    write(group + "/memory.max", limit);
    write(group + "/memory.current", used);
    write(group + "/memory.stat", stat);
  }
  void first(const std::string& group, const std::string& limit, const std::string& used) {
    write("memory" + group + "/memory.limit_in_bytes", limit);
    write("memory" + group + "/memory.usage_in_bytes", used);
  }
  uint64_t left(const std::string& text) { return memory_room(text, root_).bytes; }

  std::string root_;
};

constexpr uint64_t kAll = UINT64_MAX;

TEST_F(ControlGroups, WithoutALimitThereIsAll) {
  EXPECT_EQ(left(""), kAll);
  EXPECT_EQ(left("0::/none\n"), kAll);
  second("/a", "max", "5000");
  write("a/memory.high", "max");
  EXPECT_EQ(left("0::/a\n"), kAll);
  first("/a", "9223372036854771712", "5000");
  EXPECT_EQ(left("4:memory:/a\n"), kAll);
}

TEST_F(ControlGroups, TheLeastOnTheWayToTheRootCounts) {
  second("/a/b/c", "1000000", "300000");
  second("/a/b", "max", "800000");
  second("/a", "900000", "850000");
  EXPECT_EQ(left("0::/a/b/c\n"), 50'000u);
  const MemoryRoom room = memory_room("0::/a/b/c\n", root_);
  EXPECT_EQ(room.limit, 900'000u);
  EXPECT_EQ(room.group, root_ + "/a");
  EXPECT_TRUE(room.has_group_limit);
  second("/a/b/c", "310000", "300000");
  EXPECT_EQ(left("0::/a/b/c\n"), 10'000u);
  EXPECT_EQ(left("0::/a/b\n"), 50'000u);
}

TEST_F(ControlGroups, SoDoesWhereTheKernelBeginsToThrottle) {
  second("/a", "1000000", "300000");
  write("a/memory.high", "400000");
  EXPECT_EQ(left("0::/a\n"), 100'000u);
}

TEST_F(ControlGroups, PagesOfFilesCanBeDropped) {
  second("/a", "1000000", "900000", "anon 100000\ninactive_file 500000\nactive_file 200000\n");
  EXPECT_EQ(left("0::/a\n"), 800'000u);
  first("/a", "1000000", "900000");
  write("memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 300000\n");
  EXPECT_EQ(left("4:memory:/a\n"), 400'000u);
}

TEST_F(ControlGroups, OfVersionOneTheMemoryControllersGroupCounts) {
  first("/a", "1000000", "300000");
  first("", "9223372036854771712", "4000000");
  EXPECT_EQ(left("9:name=systemd:/\n7:cpu,memory,blkio:/a\n0::/\n"), 700'000u);
  EXPECT_EQ(left("9:name=systemd:/b\n4:memory:/a\n3:cpuset:/\n0::/\n"), 700'000u);
  EXPECT_EQ(left("4:memory_of_others:/a\n"), kAll);
}

/// A container sees its own group as the root of what is mounted.
TEST_F(ControlGroups, WhereTheGroupCannotBeSeenTheRootIs) {
  first("", "2000000", "500000");
  EXPECT_EQ(left("4:memory:/docker/0123abcd\n"), 1'500'000u);
  second("", "1000000", "400000");
  EXPECT_EQ(left("0::/../other\n"), 600'000u);
}

TEST_F(ControlGroups, MoreThanTheLimitLeavesNothing) {
  second("/a", "1000", "5000");
  EXPECT_EQ(left("0::/a\n"), 0u);
  write("a/memory.current", "what");
  EXPECT_EQ(left("0::/a\n"), kAll) << "it says nothing";
}

TEST_F(ControlGroups, OfThisProcessTheMachineIsALimit) {
  const MemoryRoom room = memory_room_of(getpid());
  EXPECT_LT(room.bytes, kAll);
  EXPECT_LE(room.bytes, room.limit);
}

}  // namespace
}  // namespace tracewell::target::live
