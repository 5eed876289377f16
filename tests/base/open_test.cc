// Whose links are followed, where names lead, and what a folder refuses. Links of another user are
// made by root; tests that need one say that they were skipped otherwise.
#include "base/open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/folder.h"

namespace tracewell {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kOther = 65534;

class Opening : public testing::Test {
 protected:
  Opening() {
    std::string name = testing::TempDir() + "open.XXXXXX";
    folder_ = mkdtemp(name.data());
    fs::create_directory(folder_ + "/elsewhere");
    std::ofstream(folder_ + "/elsewhere/target") << "text";
  }
  ~Opening() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  void link(const std::string& to, const std::string& name) const {
    fs::create_symlink(to, at(name));
  }
  void link_of_other(const std::string& to, const std::string& name) const {
    link(to, name);
    ASSERT_EQ(::lchown(at(name).c_str(), kOther, kOther), 0);
  }
  static bool is_root() { return ::geteuid() == 0; }

  std::string folder_;
};

std::string text_of(Result<UniqueFd> fd) {
  if (!fd.ok()) return "error: " + fd.error().text();
  char text[64];
  const ssize_t got = ::read(fd->get(), text, sizeof text);
  return {text, static_cast<size_t>(std::max<ssize_t>(got, 0))};
}

TEST_F(Opening, FoundLinksOfThisUserAreFollowed) {
  link("elsewhere/target", "first");
  link(at("first"), "second");
  link("../second", "elsewhere/third");
  link("elsewhere", "folder");
  for (const char* name : {"first", "second", "elsewhere/third", "folder/target",
                           "folder/../elsewhere/./target", "folder//target"})
    EXPECT_EQ(text_of(open_found(at(name))), "text") << name;
  EXPECT_EQ(open_found(at("none")).error().code, Errc::NotFound);
  EXPECT_EQ(open_found(at("elsewhere/target/")).error().code, Errc::NotFound);
}

TEST_F(Opening, FoundLinksOfOthersAreNot) {
  if (!is_root()) GTEST_SKIP() << "only root can make another user's link";
  link_of_other("elsewhere/target", "first");
  link_of_other("elsewhere", "folder");
  for (const char* name : {"first", "folder/target"}) {
    const auto fd = open_found(at(name));
    ASSERT_FALSE(fd.ok()) << name;
    EXPECT_EQ(fd.error().code, Errc::InvalidArgument);
    EXPECT_NE(fd.error().message.find("symbolic link of user"), std::string::npos);
    FoundRules also;
    also.also = kOther;
    EXPECT_EQ(text_of(open_found(at(name), also)), "text");
    EXPECT_EQ(text_of(open_named(at(name))), "text");
  }
}

TEST_F(Opening, FoundFilesAreRegular) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  link("fifo", "to_fifo");
  link("/dev/zero", "zero");
  link("/proc/self/fd/0", "input");
  for (const char* name : {"fifo", "to_fifo", "zero", "input", "elsewhere"})
    EXPECT_EQ(open_found(at(name)).error().code, Errc::InvalidArgument) << name;
}

TEST_F(Opening, LinksBelowARootStayThere) {
  fs::create_directories(at("root/lib"));
  std::ofstream(at("root/lib/inside")) << "inside";
  link("/lib/inside", "root/absolute");
  link("../../../../lib/inside", "root/lib/up");
  link("/elsewhere/target", "root/out");
  const UniqueFd root(::open(at("root").c_str(), O_PATH | O_DIRECTORY));
  FoundRules rules;
  rules.folder = root.get();
  rules.in_root = true;
  for (const char* name : {"/absolute", "absolute", "/lib/up", "/../lib/inside"})
    EXPECT_EQ(text_of(open_found(name, rules)), "inside") << name;
  EXPECT_EQ(open_found("/out", rules).error().code, Errc::NotFound);
}

TEST_F(Opening, LinksThatGoRoundAreAnError) {
  link("b", "a");
  link("a", "b");
  EXPECT_EQ(open_found(at("a")).error().code, Errc::Io);
  EXPECT_EQ(write_place(at("a")).error().code, Errc::Io);
}

TEST_F(Opening, NothingIsWrittenThroughALinkOfAnother) {
  if (!is_root()) GTEST_SKIP() << "only root can make another user's link";
  link_of_other("elsewhere/target", "first");
  link_of_other("elsewhere/new", "to_nothing");
  link_of_other("elsewhere", "folder");
  for (const char* name : {"first", "to_nothing", "folder/new"}) {
    const auto file = OutputFile::create(at(name));
    ASSERT_FALSE(file.ok()) << name;
    EXPECT_EQ(file.error().code, Errc::InvalidArgument);
  }
  EXPECT_FALSE(fs::exists(at("elsewhere/new")));
}

TEST_F(Opening, WhatIsWrittenGoesToTheEndOfOwnLinks) {
  link("elsewhere/new", "first");
  auto file = OutputFile::create(at("first"));
  ASSERT_TRUE(file.ok()) << file.error().text();
  // The folder is held: what becomes of names does not matter any more.
  fs::remove(at("first"));
  fs::rename(at("elsewhere"), at("moved"));
  ASSERT_TRUE(file->write(std::string_view("new")).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(text_of(open_named(at("moved/new"))), "new");
  EXPECT_FALSE(fs::exists(at("first")));
}

TEST_F(Opening, WhatIsKeptBesideHasTheRightsOfTheOther) {
  fs::permissions(at("elsewhere/target"), fs::perms(0620));
  const auto other = facts_at(at("elsewhere/target"));
  ASSERT_TRUE(other);
  auto file = OutputFile::create_beside(at("elsewhere/beside"), *other);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(facts_at(at("elsewhere/beside"))->mode, 0600u);
  link("target", "elsewhere/link");
  EXPECT_EQ(OutputFile::create_beside(at("elsewhere/link"), *other).error().code,
            Errc::InvalidArgument);
  EXPECT_EQ(text_of(open_named(at("elsewhere/target"))), "text");
}

TEST_F(Opening, WhatRootKeepsBesideBelongsToTheOwner) {
  if (!is_root()) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(at("elsewhere/target").c_str(), kOther, kOther), 0);
  auto file = OutputFile::create_beside(at("elsewhere/beside"), *facts_at(at("elsewhere/target")));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(facts_at(at("elsewhere/beside"))->owner, kOther);
}

TEST_F(Opening, AFolderWritesOnlyPlainFilesOfItsOwn) {
  const auto folder = Folder::named(folder_);
  ASSERT_TRUE(folder.ok());
  using Make = Folder::Make;
  EXPECT_TRUE(folder->open_own("new", Make::IfMissing).ok());
  EXPECT_EQ(folder->open_own("new", Make::New).error().code, Errc::Io);
  EXPECT_EQ(folder->open_own("none", Make::No).error().code, Errc::NotFound);
  link("elsewhere/target", "link");
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  fs::create_hard_link(at("elsewhere/target"), at("hard"));
  for (const char* name : {"link", "fifo", "hard", "../x", ".."})
    EXPECT_EQ(folder->open_own(name, Make::IfMissing).error().code, Errc::InvalidArgument)
        << name;
  if (!is_root()) return;
  ASSERT_EQ(::chown(at("new").c_str(), kOther, kOther), 0);
  EXPECT_EQ(folder->open_own("new", Make::IfMissing).error().code, Errc::InvalidArgument);
}

TEST_F(Opening, AFolderIsHeldWhateverBecomesOfItsName) {
  auto folder = Folder::named(at("elsewhere"));
  ASSERT_TRUE(folder.ok());
  fs::rename(at("elsewhere"), at("moved"));
  EXPECT_EQ(*folder->names(), std::vector<std::string>{"target"});
  EXPECT_EQ(text_of(folder->open("target")), "text");
  ASSERT_TRUE(folder->make_inside("rings").ok());
  ASSERT_TRUE(folder->rename("target", "other").ok());
  ASSERT_TRUE(folder->remove("other").ok());
  EXPECT_EQ(*folder->names(), std::vector<std::string>{"rings"});
  link("moved", "link");
  EXPECT_FALSE(Folder::named(folder_)->inside("link").ok());
}

}  // namespace
}  // namespace tracewell
