// change_file(): what is written back is what was read, where it was read, whatever becomes of the
// name meanwhile. Links of another user are made by root.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "base/files/open.h"
#include "hooks/control/defaults.h"

namespace tracewell::hooks::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSomebody = 65534;

class ChangeFile : public testing::Test {
 protected:
  ChangeFile() {
    std::string name = testing::TempDir() + "change.XXXXXX";
    folder_ = mkdtemp(name.data());
    fs::create_directory(at("private"));
    write("private/file", "secret\n");
    fs::permissions(at("private/file"), fs::perms(0600));
  }
  ~ChangeFile() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name)) << text;
  }
  std::string text_of(const std::string& name) const {
    std::ifstream file(at(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// `meanwhile` happens between reading and writing.
  template <class Meanwhile>
  Status change(const std::string& name, const Meanwhile& meanwhile) const {
    return change_file(at(name), [&](const std::string& text) -> Result<std::string> {
      meanwhile();
      return text + "more\n";
    });
  }

  std::string folder_;
};

TEST_F(ChangeFile, ChangesWhatALinkLedTo) {
  fs::create_symlink("private/file", at("name"));
  const Status done = change("name", [&] {
    fs::remove(at("name"));
    write("name", "other\n");
  });
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(text_of("name"), "other\n") << "it holds what was to be read elsewhere alone";
  EXPECT_EQ(text_of("private/file"), "secret\nmore\n");
  EXPECT_EQ(facts_at(at("private/file"))->mode, 0600u);
}

TEST_F(ChangeFile, ReplacesNothingThatItHasNotRead) {
  Status done = change("private/file", [&] {
    fs::rename(at("private/file"), at("private/moved"));
    write("private/file", "other\n");
  });
  EXPECT_EQ(done.error().code, Errc::InvalidArgument);
  EXPECT_EQ(text_of("private/file"), "other\n");
  done = change("private/new", [&] { write("private/new", "other\n"); });
  EXPECT_EQ(done.error().code, Errc::InvalidArgument);
  EXPECT_EQ(text_of("private/new"), "other\n");
  EXPECT_TRUE(change("private/new", [] {}).ok());
  EXPECT_EQ(text_of("private/new"), "other\nmore\n");
}

TEST_F(ChangeFile, ReadsThroughNoLinkOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's link";
  fs::create_symlink("private/file", at("name"));
  ASSERT_EQ(::lchown(at("name").c_str(), kSomebody, kSomebody), 0);
  bool read = false;
  EXPECT_EQ(change("name", [&] { read = true; }).error().code, Errc::InvalidArgument);
  EXPECT_FALSE(read);
}

/// A lock of this user's would keep them from it.
TEST_F(ChangeFile, TakesNoFileFromOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's file";
  ASSERT_EQ(::chown(at("private/file").c_str(), kSomebody, kSomebody), 0);
  EXPECT_EQ(change("private/file", [] {}).error().code, Errc::InvalidArgument);
  EXPECT_EQ(text_of("private/file"), "secret\n");
  EXPECT_EQ(facts_at(at("private/file"))->owner, kSomebody);
  EXPECT_FALSE(fs::exists(at("private/file.lock")));
}

TEST_F(ChangeFile, HidesWhatIsMadeOfAHiddenFile) {
  const auto add = [&](const std::string& name) {
    return change_file(at(name), *facts_at(at("private/file")),
                       [](const std::string& text, const FileFacts* facts) -> Result<std::string> {
                         return text + (facts ? "more\n" : "new\n");
                       });
  };
  ASSERT_TRUE(add("made").ok());
  ASSERT_TRUE(add("made").ok());
  EXPECT_EQ(text_of("made"), "new\nmore\n");
  EXPECT_EQ(facts_at(at("made"))->mode, 0600u);
  write("there", "");
  fs::permissions(at("there"), fs::perms(0644));
  ASSERT_TRUE(add("there").ok());
  EXPECT_EQ(facts_at(at("there"))->mode, 0644u) << "its own mode is what it keeps";
}

/// Who may read the lock's file can lock it, and keep it.
TEST_F(ChangeFile, WaitsForALockWithinABound) {
  ASSERT_TRUE(change("name", [] {}).ok());
  {
    const UniqueFd held(::open(at("name.lock").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(lock_file(held.get()).ok());
    const Status refused = change_file(
        at("name"), [](const std::string&) -> Result<std::string> { return std::string("x"); },
        std::chrono::milliseconds(50));
    ASSERT_EQ(refused.error().code, Errc::Io);
    EXPECT_NE(refused.error().message.find("name.lock"), std::string::npos);
  }
  EXPECT_EQ(text_of("name"), "more\n");
  EXPECT_TRUE(change("name", [] {}).ok());
}

}  // namespace
}  // namespace tracewell::hooks::test
