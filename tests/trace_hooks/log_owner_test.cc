// Whose a log is, where its name leads elsewhere by the time that this is asked.
#include "hooks/log/log_owner.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/files/folder.h"

namespace tracewell::hooks {
namespace {

namespace fs = std::filesystem;

class LogOwners : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "owners-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root = name;
    for (const char* log : {"one", "two"}) {
      fs::create_directory(root / log);
      fs::permissions(root / log, fs::perms::owner_all);
      std::ofstream(root / log / "metadata") << "/* CTF 1.8 */ tracewell\n";
      fs::permissions(root / log / "metadata", fs::perms::owner_read | fs::perms::owner_write);
    }
  }
  void TearDown() override { fs::remove_all(root); }

  std::shared_ptr<InputFile> opened() const {
    auto file = InputFile::open(root / "one" / "metadata");
    EXPECT_TRUE(file.ok());
    return file.ok() ? *std::move(file) : nullptr;
  }
  fs::path root;
};

TEST_F(LogOwners, TheOpenFileIsToBeInTheFolder) {
  const auto log = opened();
  const auto before = Folder::named(root / "one");
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(owner_of_open_log(log.get(), true, &*before), ::getuid());
  fs::rename(root / "one", root / "away");
  fs::create_directory_symlink(root / "two", root / "one");
  const auto after = Folder::named(root / "one");
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(owner_of_open_log(log.get(), true, &*after), std::nullopt);
  EXPECT_EQ(owner_of_open_log(log.get(), true, &*before), ::getuid());
  EXPECT_EQ(owner_of_open_log(log.get(), true, nullptr), std::nullopt);
}

TEST_F(LogOwners, AFileThatAllMayWriteIsNobodys) {
  fs::permissions(root / "one" / "metadata", fs::perms::others_write, fs::perm_options::add);
  const auto log = opened();
  const auto folder = Folder::named(root / "one");
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(owner_of_open_log(log.get(), true, &*folder), std::nullopt);
  EXPECT_EQ(owner_of_log(LogName{root / "one" / "metadata"}), std::nullopt);
}

}  // namespace
}  // namespace tracewell::hooks
