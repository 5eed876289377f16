// What ended servers have left: how much of it stays, and what nobody removes unasked.
#include "server/buffers/left_buffers.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files/file_lock.h"

namespace tracewell::server {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDayNs = int64_t{24} * 3600 * 1'000'000'000;
constexpr int64_t kNow = 20'000 * kDayNs;

class LeftBuffers : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "left_buffers.XXXXXX";
    ASSERT_NE(::mkdtemp(path_.data()), nullptr);
  }
  void TearDown() override { fs::remove_all(path_); }

  std::string at(const std::string& name) const { return path_ + "/" + name; }
  void set_age(const std::string& name, int64_t age_ns) const {
    const int64_t then = kNow - age_ns;
    const timespec times[2] = {{then / 1'000'000'000, 0}, {then / 1'000'000'000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, at(name).c_str(), times, 0), 0);
  }
  void leave(const std::string& name, int64_t age_ns, size_t bytes = 1) const {
    std::ofstream(at(name)) << std::string(bytes, 'x');
    set_age(name, age_ns);
  }
  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& one : fs::directory_iterator(path_)) out.insert(one.path().filename());
    return out;
  }
  /// What was told.
  std::vector<std::string> remove_old(const LeftBounds& bounds) const {
    std::vector<std::string> told;
    auto folder = Folder::named(path_);
    EXPECT_TRUE(folder.ok());
    remove_old_buffers(*folder, bounds, kNow,
                       [&](std::string_view line) { told.emplace_back(line); });
    return told;
  }
  std::string path_;
};

TEST_F(LeftBuffers, TheNewestStay) {
  for (int i = 1; i <= 40; ++i) leave(fmt::format("{}.twb", i), i * 1'000'000'000ll);
  const auto told = remove_old({});
  ASSERT_EQ(told.size(), 8u);
  EXPECT_EQ(told[0], fmt::format("Old trace buffer removed: {}/33.twb (32 newer ones are kept)",
                                 path_));
  EXPECT_EQ(names().size(), 32u);
  EXPECT_TRUE(fs::exists(at("32.twb")));
  EXPECT_FALSE(fs::exists(at("33.twb")));
  EXPECT_TRUE(remove_old({}).empty());
}

TEST_F(LeftBuffers, OldOnesGo) {
  leave("1.twb", 31 * kDayNs);
  leave("2-2.twb", 29 * kDayNs);
  leave("3.twb", -kDayNs);  // somebody has set the clock
  EXPECT_EQ(remove_old({}).size(), 1u);
  EXPECT_EQ(names(), (std::set<std::string>{"2-2.twb", "3.twb"}));
}

TEST_F(LeftBuffers, TheDiskThatTheyTakeCounts) {
  constexpr size_t kEach = 100'000;
  for (int i = 1; i <= 4; ++i) leave(fmt::format("{}.twb", i), i * kDayNs, kEach);
  fs::resize_file(at("1.twb"), uint64_t{1} << 40);  // a hole, which takes nothing
  set_age("1.twb", kDayNs);
  EXPECT_EQ(remove_old({.bytes = 3 * kEach}).size(), 2u);  // rounded up to blocks
  EXPECT_EQ(names(), (std::set<std::string>{"1.twb", "2.twb"}));
  EXPECT_EQ(remove_old({.bytes = kEach / 2}).size(), 1u);
  EXPECT_EQ(names(), (std::set<std::string>{"1.twb"})) << "the newest stays, however large it is";
}

TEST_F(LeftBuffers, NothingElseIsRemoved) {
  constexpr int64_t kOld = 400 * kDayNs;
  for (const char* name : {"mine.twb", "7.txt", "7-a.twb", "-7.twb", ".7.twb", "7-.twb"})
    leave(name, kOld);
  leave("1.twb", kOld);
  leave("2.twb", kOld);
  fs::create_hard_link(at("2.twb"), at("second name"));
  fs::create_symlink(at("mine.twb"), at("3.twb"));
  fs::create_directory(at("4.twb"));
  ASSERT_EQ(::mkfifo(at("5.twb").c_str(), 0600), 0);
  leave("6.twb", kOld);
  auto before = names();
  const UniqueFd used(::open(at("1.twb").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(lock_file(used.get()).ok());
  EXPECT_EQ(remove_old({.files = 0}).size(), 1u);
  before.erase("6.twb");
  EXPECT_EQ(names(), before);
}

TEST_F(LeftBuffers, ManyMoreThanDescriptors) {
  constexpr int kFiles = 3000;
  for (int i = 0; i < kFiles; ++i) leave(fmt::format("{}.twb", i), i * 1'000'000'000ll);
  EXPECT_EQ(remove_old({}).size(), kFiles - 32u);
}

TEST_F(LeftBuffers, WhatIsInUseIsNotDeleted) {
  leave("1.twb", 0);
  auto folder = Folder::named(path_);
  ASSERT_TRUE(folder.ok());
  {
    const UniqueFd used(::open(at("1.twb").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(lock_file(used.get()).ok());
    const Status refused = remove_left_buffer(*folder, "1.twb");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Errc::InvalidArgument);
    EXPECT_EQ(refused.error().message, "1.twb is in use by a server; it goes when that ends");
  }
  EXPECT_TRUE(remove_left_buffer(*folder, "1.twb").ok());
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace tracewell::server
